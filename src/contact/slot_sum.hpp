// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Reproducible sums out[t_s] += v_s over indices s, which are called slots. Each slot s has a vector v_s and a target
/// t_s, the index of the sum to which v_s is added. The function `add` sums the vectors of each target in ascending
/// order of the slots, with one thread for each target. The sums are therefore bitwise identical for equal vectors,
/// regardless of the number of threads.
class SlotSum {
 public:
  SlotSum() = default;
  /// Sorts the slots by target. The array `targets` [slots] contains the target of each slot, and `entries` is the
  /// number of sums. Slots with a target ≥ `entries` are ignored. Memory for the sorted slots is taken from the pool
  /// `pool`.
  SlotSum(const DeviceArray<int>& targets, int entries, ArrayPool& pool);

  /// Adds row s of `values` to row t_s of `out`, for each slot s with the target t_s. The arrays `values` [slots,
  /// width] and `out` [entries, width] have at most 9 columns.
  void add(const DeviceArray<double>& values, double* out, int width = 3) const;

 private:
  DeviceArray<std::uint64_t> targets_;  // sorted targets
  DeviceArray<int> slots_;
  int entries_ = 0;
};

}  // namespace diffsim::contact
