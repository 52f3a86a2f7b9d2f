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

/// Checkpoint plan of an AdjointSweep, with the expected run time. The expected run time of the sweep is estimated from
/// the measured run times of the first step, of its adjoint, and of writing and reading one snapshot.
struct SweepPlan {
  CheckpointPlan checkpoints;
  /// Number of steps at the beginning of the rollout whose adjoints are not computed; `checkpoints` is the checkpoint
  /// plan for all later steps.
  int skipped = 0;
  /// Run time (seconds) of one step of the forward run; NaN if unknown.
  double step_seconds = std::numeric_limits<double>::quiet_NaN();
  /// Run time (seconds) of the adjoint of one step; NaN if unknown.
  double adjoint_seconds = std::numeric_limits<double>::quiet_NaN();
  /// Time to write a snapshot to the disk, divided by the run time `step_seconds` of a step; NaN if unknown.
  double write = std::numeric_limits<double>::quiet_NaN();
  /// Time to read a snapshot from the disk, divided by the run time `step_seconds` of a step; NaN if unknown.
  double read = std::numeric_limits<double>::quiet_NaN();

  /// Expected time (seconds) of the forward and the reverse sweep together; NaN if unknown.
  double expected_seconds() const;
  /// Summary of the checkpoint plan in one line, for example "revolve: 12 snapshots, 3 records, 1.20 GiB; 13100 steps
  /// repeated, 2.31 forward steps for each of 10000; about 340 s, estimated from the first step; …".
  std::string summary() const;
};

/// Properties of a planned sweep that determine how much memory the sweep needs, and how long the sweep takes to write
/// and read snapshot files. A SweepJournal needs memory for a copy of the adjoint and of the gradient, and for buffers
/// of the journal's files.
struct SweepSurroundings {
  bool has_journal = false;
  int kept_states = 0;  ///< number of states that the caller of the sweep stores during the reverse sweep
  /// Order in which snapshot files contain the values of states; if nullptr, the default order of `make_store`.
  const RowOrder* order = nullptr;
};

/// Plans the checkpoints of a sweep for the memory budget `options.memory`, which must be given. Call `plan_sweep`
/// before the state, the adjoint and the gradient of the sweep are allocated. The ParameterSet `gradient` contains the
/// parameters with respect to which the gradient is requested. Collective.
///
/// A memory budget in bytes covers all memory of the processes: the resident memory of all ranks is subtracted from the
/// budget. The resident memory of a rank is `options.measures->held_bytes` if `options.measures` is given, and is
/// otherwise measured after up to three executions of the first step and its adjoint, so that matrices and
/// preconditioners are included. The memory that the sweep needs in addition to snapshots (stored states) and records
/// (data for the adjoints of steps) is subtracted from any budget, also from a budget that is a fraction of the free
/// memory. For a tiered store (CheckpointStore::tiered), the times of writing and reading a snapshot are those in
/// `options.measures`. If `options.measures` is not given, one snapshot is written to the disk and read back to measure
/// these times.
SweepPlan plan_sweep(const CheckpointOptions& options, Model& model, const State& initial, const ParameterSet& gradient,
                     int num_steps, const SweepSurroundings& surroundings = {});
/// Plans the checkpoints of the sweep that computes a product with the Hessian (DirectionalModel). The states and
/// records of a sweep for a product with the Hessian are larger than those of a sweep for a gradient. Collective.
SweepPlan plan_product_sweep(const CheckpointOptions& options, Model& model, const State& initial,
                             const ParameterSet& gradient, int num_steps, const SweepSurroundings& surroundings = {});

}  // namespace diffsim
