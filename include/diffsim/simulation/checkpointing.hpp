// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/checkpoint/checkpoint_directory.hpp"
#include "diffsim/checkpoint/memory_budget.hpp"
#include "diffsim/checkpoint/schedule.hpp"
#include "diffsim/checkpoint/store.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Storage level for the snapshots of a multi-level schedule. Levels are listed from the fastest to the slowest.
struct CheckpointLevel {
  int snapshots = 0;   ///< maximum number of snapshots on the level
  double write = 0.0;  ///< time to write a snapshot, in units of the time of a step
  double read = 0.0;   ///< time to read a snapshot, in units of the time of a step
  /// Directory on a disk. If empty, level 0 is in memory, level 1 in `CheckpointOptions::directory`, and level K ≥ 2 in
  /// the subdirectory `level_K` of `CheckpointOptions::directory`.
  std::string directory;
};

/// Quantities that a plan measures unless they are given.
struct PlanMeasures {
  std::int64_t held_bytes = 0;  ///< memory of this rank's process, including the temporary memory of a step
  double write = 0.0;           ///< time to write a snapshot to the disk, in units of the time of a step
  double read = 0.0;            ///< time to read a snapshot, in units of the time of a step
};

/// Options of the checkpointing that bounds the memory of a gradient computation.
struct CheckpointOptions {
  std::string schedule = "all";  ///< one of: all, uniform, revolve, online, two_level, multi_level, reversible
  /// Number of steps at the end of the rollout that are reversed; 0: all. Fewer than all give an approximate gradient.
  int last = 0;
  int every = 10;  ///< uniform: number of steps between snapshots; two_level: number of steps per segment
  /// Maximum number of snapshots held at the same time, for revolve, online and two_level. The first state of the
  /// rollout (two_level: of the segment) is one of the snapshots.
  int snapshots = 20;
  /// One of: memory, hdf5, tiered. `tiered` has level 0 in memory and the other levels in HDF5 files.
  std::string store = "memory";
  std::string directory = "checkpoints";
  std::vector<CheckpointLevel> levels = {};  ///< of the schedule multi_level and of the store tiered
  /// Memory for the sweep. If given, the schedule is planned for this budget (`plan_sweep`). With a tiered store, the
  /// plan may place snapshots on the disk.
  MemoryBudget memory = {};
  MemoryBudget disk = {};  ///< disk space for the snapshots of such a plan; not given: half of the free space
  std::optional<PlanMeasures> measures = {};  ///< if given, the plan measures only the time of a step
  bool single = false;      ///< true: snapshots are rounded to float32, so the gradient is approximate
  bool compressed = false;  ///< true: snapshots in HDF5 files are compressed without loss
  double interval = 600.0;  ///< time between two entries of a SweepJournal, s
};

/// Checkpoint plan with its expected cost, which is measured on the first step and on one snapshot.
struct SweepPlan {
  CheckpointPlan checkpoints;
  int skipped = 0;  ///< number of steps at the beginning that are neither reversed nor planned
  /// Time of a step, s; NaN if unknown.
  double step_seconds = std::numeric_limits<double>::quiet_NaN();
  /// Time of the adjoint of a step, s; NaN if unknown.
  double adjoint_seconds = std::numeric_limits<double>::quiet_NaN();
  /// Time to write a snapshot to the disk, in units of the time of a step; NaN if unknown.
  double write = std::numeric_limits<double>::quiet_NaN();
  /// Time to read a snapshot from the disk, in units of the time of a step; NaN if unknown.
  double read = std::numeric_limits<double>::quiet_NaN();

  /// Expected time of the forward and the reverse sweep together, s; NaN if unknown.
  double expected_seconds() const;
  /// Summary in one line: "revolve: 12 snapshots, 3 records, 1.20 GiB; 13100 steps repeated, 2.31 forward steps for
  /// each of 10000; about 340 s by the first step; …".
  std::string summary() const;
};

/// Number of steps at the beginning of a rollout that are not reversed.
int skipped_steps(const CheckpointOptions& options, int num_steps);
/// Describes why the gradient is approximate: "the gradient is that of the last 40 of 100 steps only
/// (checkpoint.last)…". Empty if the gradient is exact.
std::string approximation_of(const CheckpointOptions& options, int num_steps);

/// Creates the schedule of `plan`, the plan for `options.memory`, if given; otherwise the schedule `options.schedule`.
/// Throws Error (input) for an unknown name; the message lists the known names.
std::unique_ptr<Schedule> make_schedule(const CheckpointOptions& options, int num_steps,
                                        const SweepPlan* plan = nullptr);
/// Creates the store `options.store`. HDF5 snapshots are written to `shared` if given, otherwise to a directory that is
/// removed together with the store. A tiered store uses `shared` for level 1 only, and only if that level names no
/// directory. `order` is the order of rows in the HDF5 files. Throws Error (input) for an unknown name; the message
/// lists the known names.
std::unique_ptr<Store> make_store(const CheckpointOptions& options, MPI_Comm comm,
                                  std::shared_ptr<CheckpointDirectory> shared = nullptr,
                                  const RowOrder* order = nullptr);

/// Conditions of a planned sweep that change its memory. A journal needs one more adjoint and gradient, and buffers for
/// the files that it writes.
struct SweepSurroundings {
  bool has_journal = false;
  const RowOrder* order = nullptr;  ///< order of rows of snapshots on the disk, as in `make_store`
};

/// Plans the checkpoints of a sweep for `options.memory`, which must be given. Call this function before the sweep's
/// own state, adjoint and gradient are allocated. `gradient` names the parameters whose gradient is requested.
/// Collective.
///
/// A budget in bytes covers all memory of the processes. Two amounts are subtracted from the budget. The first is the
/// resident memory of all ranks after the first step and its adjoint have been executed three times, so that matrices
/// and preconditioners are included. The second is the memory that the sweep allocates in addition to snapshots and
/// records. For a tiered store, one snapshot is written to the disk and read back to measure its cost.
SweepPlan plan_sweep(const CheckpointOptions& options, Model& model, const State& initial, const ParameterSet& gradient,
                     int num_steps, const SweepSurroundings& surroundings = {});
/// Plans the checkpoints of the sweep for a product with the Hessian (DirectionalModel), whose states and records are
/// larger than those of a gradient. Collective.
SweepPlan plan_product_sweep(const CheckpointOptions& options, Model& model, const State& initial,
                             const ParameterSet& gradient, int num_steps, const SweepSurroundings& surroundings = {});

}  // namespace diffsim
