// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Reproducible sums out[t_s] += v_s over the indices s, which are called slots. Each slot s has a vector v_s and a
/// target t_s, the index of an entry of the result. `add` sums the vectors of each target in ascending order of s, with
/// one thread for each target. Therefore the sums are bitwise identical for equal vectors v_s, regardless of the number
/// of threads.
class SlotSum {
 public:
  SlotSum() = default;
  /// Sorts the slots by target. `targets` [slots] contains the target of each slot, and `entries` is the number of
  /// entries of the result. Slots with a target ≥ `entries` are ignored. Memory is taken from `pool`.
  SlotSum(const DeviceArray<int>& targets, int entries, ArrayPool& pool);

  /// Adds the vectors `values` of the slots to the entries of `out`. `values` is [slots, width], `out` is [entries,
  /// width], with width at most 9.
  void add(const DeviceArray<double>& values, double* out, int width = 3) const;

 private:
  DeviceArray<std::uint64_t> targets_;  // sorted targets
  DeviceArray<int> slots_;
  int entries_ = 0;
};

}  // namespace diffsim::contact
