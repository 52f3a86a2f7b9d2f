// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/array_pool.hpp"

namespace diffsim::contact {

/// Sums vectors that many threads made for the same vertices, in the order of their slots: no two threads write to one
/// place, and equal slots give equal bits.
class SlotSum {
 public:
  SlotSum() = default;
  /// `targets` [slots]: the entry that each slot adds to; slots with one at or beyond `entries` are left out. Takes its
  /// arrays from `pool`.
  SlotSum(const DeviceArray<int>& targets, int entries, ArrayPool& pool);

  /// out[target] += Σ values of its slots; both [., width], width at most 9.
  void add(const DeviceArray<double>& values, double* out, int width = 3) const;

 private:
  DeviceArray<std::uint64_t> targets_;  // sorted
  DeviceArray<int> slots_;
  int entries_ = 0;
};

}  // namespace diffsim::contact
