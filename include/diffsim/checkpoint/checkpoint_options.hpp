// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace diffsim {

/// Memory limit, in one of two forms. `bytes` limits the total memory of all processes of a run, in bytes. `share` is
/// the fraction of a machine's free memory that the processes on this machine may allocate in addition to the memory
/// already in use.
struct MemoryBudget {
  std::int64_t bytes = 0;  ///< limit of the total memory; 0: not given
  double share = 0.0;      ///< fraction of the free memory, in (0, 1]; 0: not given

  bool is_given() const { return bytes > 0 || share > 0.0; }  ///< true if either limit is given
};

/// Memory, in bytes, that is available to the processes of this machine: the smaller of the Linux kernel's MemAvailable
/// and the memory that the limit of the process's control group leaves. The result is infinite if the system provides
/// neither value.
double free_memory_bytes();

/// Schedule of a sweep, which is a forward run followed by the reverse run that computes the gradient. A snapshot is a
/// stored state; a record is the data that the adjoint of one step needs. The schedule determines which states are
/// stored as snapshots, and which steps are repeated.
enum class CheckpointSchedule {
  all,          ///< a record of every step; no step is repeated
  uniform,      ///< a snapshot every `CheckpointOptions::every` steps, from state 0 on
  revolve,      ///< fewest repeated steps for a given number of snapshots (Griewank & Walther 2000)
  online,       ///< for an unknown number of steps (Wang, Moin & Iaccarino 2009)
  two_level,    ///< a snapshot on level 1 of the store every `every` steps; between two of these, revolve on level 0
  multi_level,  ///< least run time for several storage levels with different costs
  reversible    ///< no snapshots; the reverse sweep inverts each step
};
/// Names of the schedules in scenes and reports, in the order of CheckpointSchedule.
inline constexpr std::array<const char*, 7> checkpoint_schedules = {"all",       "uniform",     "revolve",   "online",
                                                                    "two_level", "multi_level", "reversible"};

/// Store of the snapshots of a sweep.
enum class CheckpointStore {
  memory,  ///< memory of each rank's process
  hdf5,    ///< files in `CheckpointOptions::directory`
  tiered   ///< one store for each level; by default, level 0 is in memory and the other levels are in files
};
/// Names of the stores, in the order of CheckpointStore.
inline constexpr std::array<const char*, 3> checkpoint_stores = {"memory", "hdf5", "tiered"};

/// Returns the name of a schedule.
inline const char* to_string(CheckpointSchedule schedule) {
  return checkpoint_schedules[static_cast<std::size_t>(schedule)];
}
/// Returns the name of a store.
inline const char* to_string(CheckpointStore store) { return checkpoint_stores[static_cast<std::size_t>(store)]; }

/// Storage level for the snapshots of a multi-level schedule. Levels are listed from the fastest to the slowest.
struct CheckpointLevel {
  int snapshots = 0;   ///< maximum number of snapshots on the level
  double write = 0.0;  ///< time to write a snapshot, in units of the run time of a step
  double read = 0.0;   ///< time to read a snapshot, in units of the run time of a step
  /// Directory on a disk. If empty, level 0 is in memory, level 1 in `CheckpointOptions::directory`, and level K ≥ 2 in
  /// the subdirectory `level_K` of `CheckpointOptions::directory`.
  std::string directory;
};

/// Quantities that are measured before a schedule is planned, unless `CheckpointOptions::measures` gives their values.
struct PlanMeasures {
  std::int64_t held_bytes = 0;  ///< memory in use by this rank's process, including the temporary memory of a step
  double write = 0.0;           ///< time to write a snapshot to the disk, in units of the run time of a step
  double read = 0.0;            ///< time to read a snapshot, in units of the run time of a step
};

/// Options of the checkpointing that bounds the memory of a gradient computation.
struct CheckpointOptions {
  CheckpointSchedule schedule = CheckpointSchedule::all;  ///< schedule; not used if `memory` is given
  /// Number of steps at the end of the rollout that are reversed; 0 means all steps. If some steps are not reversed,
  /// the gradient is approximate.
  int last = 0;
  /// Number of steps between successive snapshots (uniform) or between successive snapshots on level 1 (two_level).
  int every = 10;
  /// Maximum number of snapshots that exist at the same time, for revolve and online. One of the snapshots is the first
  /// state of the rollout. For two_level: maximum number of snapshots on level 0. One of these snapshots is the state
  /// of the last snapshot on level 1.
  int snapshots = 20;
  CheckpointStore store = CheckpointStore::memory;  ///< store of the snapshots
  std::string directory = "checkpoints";            ///< directory of the snapshots of the stores hdf5 and tiered
  std::vector<CheckpointLevel> levels = {};  ///< storage levels of the schedule multi_level and of the store tiered
  /// Memory for the sweep. If given, the schedule is planned for this budget, and `schedule`, `every` and `snapshots`
  /// are not used. With a tiered store, the plan may place snapshots on the disk.
  MemoryBudget memory = {};
  MemoryBudget disk = {};  ///< disk space for snapshots of a planned schedule; default: half of the free space
  /// Values for planning; if given, only the run time of a step is measured.
  std::optional<PlanMeasures> measures = {};
  bool single = false;      ///< true: snapshots are rounded to float32, so the gradient is approximate
  bool compressed = false;  ///< true: snapshots in HDF5 files are compressed without loss
  /// Wall time (s) between two saves of the sweep's progress, from which an interrupted sweep can resume.
  double interval = 600.0;
};

}  // namespace diffsim
