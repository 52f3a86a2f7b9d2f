// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "diffsim/checkpoint/schedule_plan.hpp"

namespace diffsim {

/// Memory that all processes of a run may hold together, bytes; or a share of what is free on the machines, beyond what
/// the processes hold already.
struct MemoryBudget {
  std::int64_t bytes = 0;
  double share = 0.0;  ///< of what is free, in (0, 1]

  bool is_given() const { return bytes > 0 || share > 0.0; }
};

/// Memory that a sweep takes, bytes of this rank.
struct SweepBytes {
  std::int64_t snapshot = 0;  ///< of each
  std::int64_t record = 0;    ///< of each
  std::int64_t held = 0;      ///< by this process when the sweep begins
  std::int64_t beside = 0;    ///< by all else that the sweep makes
};

/// Memory that this machine has left for its processes, bytes: what the kernel says is available, less where a control
/// group allows less. Infinite where neither is known.
double free_memory_bytes();

/// `plan_checkpoints` for what is left of a budget when what the processes hold (`budget.bytes`) and what the sweep
/// takes beside snapshots and records is subtracted. Bytes of the plan are those of all ranks for `budget.bytes`; for
/// `budget.share` those of the machine with the least memory for its part. `disk`, if given, may be used as well, its
/// `buffers` being those of this rank; all else of it is the same on all ranks. Throws Error (input), saying what is
/// held and what is needed, where not even one snapshot and one record fit. Collective.
CheckpointPlan plan_checkpoints(MPI_Comm comm, const MemoryBudget& budget, int num_steps, const SweepBytes& bytes,
                                const DiskLevel* disk = nullptr);

}  // namespace diffsim
