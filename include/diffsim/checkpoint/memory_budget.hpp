// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace diffsim {

/// Memory limit: either bytes that all processes of a run may hold together, or a fraction of the memory that is free
/// on the machines, in addition to the memory that the processes hold already.
struct MemoryBudget {
  std::int64_t bytes = 0;
  double share = 0.0;  ///< fraction of the free memory, in (0, 1]

  bool is_given() const { return bytes > 0 || share > 0.0; }
};

/// Memory that is available to the processes of this machine, bytes: the smaller of the kernel's MemAvailable and the
/// remaining memory of the control group. Infinite if neither is known.
double free_memory_bytes();

}  // namespace diffsim
