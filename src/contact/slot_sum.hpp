// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Sum, for each target, of the vectors in its slots, in the order of the slots. Many threads may fill the slots. No
/// two threads write to one location of the result, and equal slots give bitwise identical sums.
class SlotSum {
 public:
  SlotSum() = default;
  /// Sorts the slots by target. `targets` [slots] is the entry that each slot adds to; slots with a target ≥ `entries`
  /// are left out. Takes its arrays from `pool`.
  SlotSum(const DeviceArray<int>& targets, int entries, ArrayPool& pool);

  /// Adds to each out[target] the values of its slots. Both arrays are [., width], with width at most 9.
  void add(const DeviceArray<double>& values, double* out, int width = 3) const;

 private:
  DeviceArray<std::uint64_t> targets_;  // sorted
  DeviceArray<int> slots_;
  int entries_ = 0;
};

}  // namespace diffsim::contact
