// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "diffsim/checkpoint/schedule_plan.hpp"

namespace diffsim {

/// What snapshots and records may take: bytes of all ranks together, or a share of what is free on the machines.
struct MemoryBudget {
  std::int64_t bytes = 0;
  double share = 0.0;  ///< of what is free, in (0, 1]

  bool is_given() const { return bytes > 0 || share > 0.0; }
};

/// Memory that this machine has left for its processes, bytes: what the kernel says is available, less where a control
/// group allows less. Infinite where neither is known.
double free_memory_bytes();

/// `plan_checkpoints` for a state and a record that take so many bytes on this rank. Bytes of the plan are those of all
/// ranks for `budget.bytes`; for `budget.share` those of the machine with the least memory for its part. Throws Error
/// (input) where not even one snapshot and one record fit. Collective.
CheckpointPlan plan_checkpoints(MPI_Comm comm, const MemoryBudget& budget, int num_steps, std::int64_t state_bytes,
                                std::int64_t record_bytes);

}  // namespace diffsim
