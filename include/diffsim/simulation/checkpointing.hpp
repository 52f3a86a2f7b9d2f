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

/// A place for snapshots of a multi-level schedule, the fastest first.
struct CheckpointLevel {
  int snapshots = 0;   ///< at a time
  double write = 0.0;  ///< time to write one, in steps
  double read = 0.0;   ///< time to read one, in steps
  std::string
      directory;  ///< on a disk; empty: memory for the first level, else a folder of CheckpointOptions::directory
};

/// Figures that a plan measures where they are not given.
struct PlanMeasures {
  std::int64_t held_bytes = 0;  ///< by this rank's process, and what a step takes for its time
  double write = 0.0;           ///< time to write a snapshot to the disk, in steps
  double read = 0.0;            ///< time to read one, in steps
};

/// How a gradient's sweep keeps memory bounded.
struct CheckpointOptions {
  std::string schedule = "all";  ///< all, uniform, revolve, online, two_level, multi_level, reversible
  int last = 0;                  ///< how many steps at the end are reversed; 0: all. Fewer than all: an approximation
  int every = 10;                ///< uniform: steps between snapshots; two_level: steps a segment
  int snapshots =
      20;  ///< revolve, online, two_level: states kept at once, the first one of the rollout (segment) included
  std::string store = "memory";  ///< memory, hdf5, tiered: the first level in memory, the others in HDF5
  std::string directory = "checkpoints";
  std::vector<CheckpointLevel> levels;  ///< multi_level
  MemoryBudget memory;                  ///< where given, the schedule is planned; with a tiered store on a disk as well
  MemoryBudget disk;                    ///< room for such a plan's snapshots there; not given: half of what is free
  std::optional<PlanMeasures> measures;  ///< where given, the plan measures nothing but the time of a step
  bool single = false;                   ///< snapshots are rounded to float32: an approximation
  bool compressed = false;               ///< snapshots in HDF5 are compressed, without loss
  double interval = 600.0;               ///< s between two entries of a SweepJournal
};

/// A plan with what it will take, measured on the first step and on one snapshot.
struct SweepPlan {
  CheckpointPlan checkpoints;
  int skipped = 0;                                                    ///< steps that are not reversed, nor planned
  double step_seconds = std::numeric_limits<double>::quiet_NaN();     ///< NaN: not known
  double adjoint_seconds = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not known
  double write = std::numeric_limits<double>::quiet_NaN();  ///< of a snapshot to the disk, in steps; NaN: not known
  double read = std::numeric_limits<double>::quiet_NaN();   ///< from the disk; NaN: not known

  /// Of forward and reverse sweep together; NaN where not known.
  double expected_seconds() const;
  /// "revolve: 12 snapshots, 3 records, 1.20 GiB; 13100 steps repeated, 2.31 forward steps for each of 10000; about 340
  /// s"
  std::string summary() const;
};

/// How many steps of a rollout are not reversed.
int skipped_steps(const CheckpointOptions& options, int num_steps);
/// How the gradient is an approximation: "that of the last 40 of 100 steps only (checkpoint.last); …", empty if it is
/// not.
std::string approximation_of(const CheckpointOptions& options, int num_steps);

/// Throw Error (input) for a name they do not know, naming those there are. `plan`: what was planned for
/// `options.memory`.
std::unique_ptr<Schedule> make_schedule(const CheckpointOptions& options, int num_steps,
                                        const SweepPlan* plan = nullptr);
/// HDF5 snapshots (of the first level on a disk) go to `shared`, ordered as `order` says, if it is given; else to a
/// directory that goes with the store.
std::unique_ptr<Store> make_store(const CheckpointOptions& options, MPI_Comm comm,
                                  std::shared_ptr<CheckpointDirectory> shared = nullptr,
                                  const RowOrder* order = nullptr);

/// Surroundings of a planned sweep: a journal, which keeps an adjoint and a gradient more, and writes files.
struct SweepSurroundings {
  bool has_journal = false;
  const RowOrder* order = nullptr;  ///< of snapshots on the disk, as `make_store` takes it
};

/// The plan for `options.memory`, which must be given, made before the sweep's own state, adjoint and gradient are.
/// `gradient` names the parameters asked for. Collective.
///
/// A budget in bytes is for all that the processes hold. Subtracted from it is what all ranks hold when three first
/// steps have been taken here, with their adjoints, so that matrices and preconditioners are there (resident memory);
/// and what the sweep makes beside snapshots and records. For a tiered store a snapshot is written to the disk and
/// read.
SweepPlan plan_sweep(const CheckpointOptions& options, Model& model, const State& initial, const ParameterSet& gradient,
                     int num_steps, const SweepSurroundings& surroundings = {});
/// Plan of the sweep of a product with the Hessian (DirectionalModel), whose states and records are larger.
SweepPlan plan_product_sweep(const CheckpointOptions& options, Model& model, const State& initial,
                             const ParameterSet& gradient, int num_steps, const SweepSurroundings& surroundings = {});

}  // namespace diffsim
