// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/checkpoint/memory_budget.hpp"
#include "diffsim/checkpoint/schedule.hpp"
#include "diffsim/checkpoint/store.hpp"

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

class CheckpointDirectory;
class RowOrder;
struct SweepPlan;

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

}  // namespace diffsim
