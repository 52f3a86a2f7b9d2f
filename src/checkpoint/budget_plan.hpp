// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "checkpoint/schedule_plan.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"

namespace diffsim {

/// Memory of a sweep on this rank, in bytes.
struct SweepBytes {
  std::int64_t snapshot = 0;  ///< size of a snapshot
  std::int64_t record = 0;    ///< size of a record
  std::int64_t held = 0;      ///< memory in use by this process before the sweep begins
  std::int64_t beside = 0;    ///< memory that the sweep needs in addition to snapshots and records
};

/// Overload of `plan_checkpoints` for the memory budget of a run on all ranks. The memory that the sweep needs in
/// addition to snapshots and records is subtracted from the budget; for `budget.bytes`, the memory already in use by
/// the processes is subtracted, too. Sizes in the plan are sums over all ranks for `budget.bytes`. For `budget.share`,
/// sizes in the plan are the largest sums over the ranks of one machine, and the budget is computed from the least free
/// memory of any machine.
///
/// `disk`: properties of a disk on which the plan may place snapshots; if nullptr, all snapshots are in memory.
/// `disk->buffers` is the buffer memory of this rank; all other members of `disk` are the same on all ranks. Throws
/// Error (input) if not even one snapshot and one record fit; the message states the memory in use and the memory
/// needed. Collective.
CheckpointPlan plan_checkpoints(MPI_Comm comm, const MemoryBudget& budget, int num_steps, const SweepBytes& bytes,
                                const DiskLevel* disk = nullptr);

}  // namespace diffsim
