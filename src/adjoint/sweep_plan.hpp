// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "checkpoint/checkpoint_directory.hpp"
#include "checkpoint/schedule_plan.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Checkpoint plan of a sweep, with the expected run time. The run time is estimated from measurements of the first
/// step and of one snapshot.
struct SweepPlan {
  CheckpointPlan checkpoints;
  /// Number of steps at the beginning of the rollout that are not reversed; `checkpoints` is for the later steps.
  int skipped = 0;
  /// Run time of one step of the forward run in s; NaN if unknown.
  double step_seconds = std::numeric_limits<double>::quiet_NaN();
  /// Run time of the adjoint of one step in s; NaN if unknown.
  double adjoint_seconds = std::numeric_limits<double>::quiet_NaN();
  /// Time to write a snapshot to the disk, in units of `step_seconds`; NaN if unknown.
  double write = std::numeric_limits<double>::quiet_NaN();
  /// Time to read a snapshot from the disk, in units of `step_seconds`; NaN if unknown.
  double read = std::numeric_limits<double>::quiet_NaN();

  /// Expected time in s of the forward and the reverse sweep together; NaN if unknown.
  double expected_seconds() const;
  /// Summary in one line, for example "revolve: 12 snapshots, 3 records, 1.20 GiB; 13100 steps repeated, 2.31 forward
  /// steps for each of 10000; about 340 s, estimated from the first step; …".
  std::string summary() const;
};

/// Properties of a planned sweep on which the memory of the sweep depends. A SweepJournal needs memory for a further
/// adjoint and gradient, and for buffers of files.
struct SweepSurroundings {
  bool has_journal = false;
  int kept_states = 0;              ///< number of states that the caller stores during the reverse sweep
  const RowOrder* order = nullptr;  ///< order of rows in snapshot files; nullptr: the default order of `make_store`
};

/// Plans the checkpoints of a sweep for the memory budget `options.memory`, which must be given. Call this function
/// before the sweep's own state, adjoint and gradient are allocated. `gradient` names the parameters whose gradient is
/// requested. Collective.
///
/// A budget in bytes covers all memory of the processes. The resident memory of all ranks is subtracted from the
/// budget. The resident memory is measured after up to three executions of the first step and its adjoint, so that
/// matrices and preconditioners are included, unless `options.measures` is given. The memory that the sweep allocates
/// in addition to snapshots and records is subtracted, too. For a tiered store, one snapshot is written to the disk and
/// read back to measure the times of writing and reading, unless `options.measures` is given.
SweepPlan plan_sweep(const CheckpointOptions& options, Model& model, const State& initial, const ParameterSet& gradient,
                     int num_steps, const SweepSurroundings& surroundings = {});
/// Plans the checkpoints of the sweep that computes a product with the Hessian (DirectionalModel). The states and
/// records of this sweep are larger than those of a gradient. Collective.
SweepPlan plan_product_sweep(const CheckpointOptions& options, Model& model, const State& initial,
                             const ParameterSet& gradient, int num_steps, const SweepSurroundings& surroundings = {});

}  // namespace diffsim
