// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Sums of vectors by target. Threads first write one vector to each slot; each slot has a target, the index of an
/// entry of the result. `add` then sums the vectors of each target in the order of the slots, with one thread for each
/// target. Therefore equal vectors in the slots give bitwise identical sums.
class SlotSum {
 public:
  SlotSum() = default;
  /// Sorts the slots by target. `targets` [slots] contains the index of the entry to which each slot is added; slots
  /// with a target ≥ `entries` are ignored. The object takes its arrays from `pool`.
  SlotSum(const DeviceArray<int>& targets, int entries, ArrayPool& pool);

  /// Adds to each out[target] the values of the slots of this target. `values` is [slots, width], `out` is
  /// [entries, width], with width at most 9.
  void add(const DeviceArray<double>& values, double* out, int width = 3) const;

 private:
  DeviceArray<std::uint64_t> targets_;  // sorted targets
  DeviceArray<int> slots_;
  int entries_ = 0;
};

}  // namespace diffsim::contact
