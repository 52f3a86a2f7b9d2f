// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "checkpoint/schedule_plan.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"

namespace diffsim {

/// Memory needs, in bytes, of a sweep (a forward run and the reverse run that computes the gradient) on this rank.
struct SweepBytes {
  std::int64_t snapshot = 0;  ///< size of a snapshot
  std::int64_t record = 0;    ///< size of the record of a time step, from which the step's adjoint is computed
  std::int64_t held = 0;      ///< memory in use by this process before the forward run begins
  /// Memory that the forward and reverse runs need in addition to snapshots and records of time steps.
  std::int64_t beside = 0;
};

/// Overload of `plan_checkpoints` for the memory budget of a run on several ranks. The memory budget is reduced by the
/// memory that the forward and reverse runs need in addition to snapshots and records of time steps. If the budget is
/// given as `budget.bytes`, the budget is reduced by the memory that the processes already use, and the sizes in the
/// plan are sums over all ranks. If the budget is given as `budget.share`, each size in the plan is the maximum over
/// the machines of the sum over a machine's ranks, and the budget is the fraction `budget.share` of the smallest free
/// memory of a machine.
///
/// `disk`: properties of a disk on which the plan may place snapshots; if nullptr, all snapshots are in memory.
/// `disk->buffers` is the memory of this rank's buffers for snapshots; `disk->processes` is not used; all other members
/// of `disk` are the same on all ranks. Throws Error (input) if the budget is too small for one snapshot and one
/// record, and also too small for the records of all steps; the message of the Error states the memory needed and, if
/// the budget is given as `budget.bytes`, the memory in use. Throws Error (input) also if the budget is given as
/// `budget.share` and the free memory of the system is unknown. Collective.
CheckpointPlan plan_checkpoints(MPI_Comm comm, const MemoryBudget& budget, int num_steps, const SweepBytes& bytes,
                                const DiskLevel* disk = nullptr);

}  // namespace diffsim
