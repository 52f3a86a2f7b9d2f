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

/// Limit of memory or of disk space, given either in bytes or as a fraction of the free memory or disk space. For a
/// limit of memory, `bytes` limits the total memory of all processes of a run, and `share` is the fraction of a
/// machine's free memory that the processes on this machine may allocate in addition to the memory already in use.
struct MemoryBudget {
  std::int64_t bytes = 0;  ///< number of bytes of memory or disk space that may be used; 0: not given
  double share = 0.0;      ///< fraction of free memory or disk space that may be used, in (0, 1]; 0: not given

  bool is_given() const { return bytes > 0 || share > 0.0; }  ///< true if `bytes` or `share` is positive
};

/// Returns the memory, in bytes, that is available to the processes of this machine: the smaller of the Linux kernel's
/// MemAvailable and the unused part of the memory limits of the process's control groups, for example those of a
/// container or of a batch job. Returns infinity if the system provides neither MemAvailable nor memory limits.
double free_memory_bytes();

/// Schedule of a sweep, which is a forward run followed by the reverse run that computes the gradient. A snapshot is a
/// stored state; a record is the data that the adjoint of one step needs. A checkpoint schedule determines which states
/// are stored as snapshots, and which steps are executed repeatedly.
enum class CheckpointSchedule {
  all,      ///< schedule that stores a record of every step, so that no step is executed twice
  uniform,  ///< schedule with a snapshot every `CheckpointOptions::every` steps, beginning with the initial state
  revolve,  ///< schedule with the fewest repeated steps for a given number of snapshots (Griewank & Walther 2000)
  online,   ///< schedule for a rollout whose number of steps is not known in advance (Wang, Moin & Iaccarino 2009)
  /// Schedule with a snapshot on storage level 1 every `CheckpointOptions::every` steps. Between two successive
  /// snapshots on level 1, the steps follow the schedule `revolve` with snapshots on level 0.
  two_level,
  multi_level,  ///< schedule with the least run time for several storage levels with different costs
  reversible    ///< schedule without snapshots, in which the reverse run inverts each step
};
/// Names of the checkpoint schedules in scenes and reports, in the order of CheckpointSchedule.
inline constexpr std::array<const char*, 7> checkpoint_schedules = {"all",       "uniform",     "revolve",   "online",
                                                                    "two_level", "multi_level", "reversible"};

/// Kind of storage for the snapshots (stored states) of a sweep.
enum class CheckpointStore {
  memory,  ///< snapshots in the memory of each rank's process
  hdf5,    ///< snapshots in HDF5 files in `CheckpointOptions::directory`
  tiered   ///< one store for each storage level; by default, level 0 is in memory, all other levels are in files
};
/// Names of the checkpoint stores, in the order of CheckpointStore.
inline constexpr std::array<const char*, 3> checkpoint_stores = {"memory", "hdf5", "tiered"};

/// Returns the name of a checkpoint schedule.
inline const char* to_string(CheckpointSchedule schedule) {
  return checkpoint_schedules[static_cast<std::size_t>(schedule)];
}
/// Returns the name of a checkpoint store.
inline const char* to_string(CheckpointStore store) { return checkpoint_stores[static_cast<std::size_t>(store)]; }

/// Storage level for the snapshots of a multi-level schedule. `CheckpointOptions::levels` lists the storage levels from
/// the fastest to the slowest.
struct CheckpointLevel {
  int snapshots = 0;   ///< maximum number of snapshots on the storage level
  double write = 0.0;  ///< time to write a snapshot, in units of the run time of a step
  double read = 0.0;   ///< time to read a snapshot, in units of the run time of a step
  /// Directory on a disk for the snapshots of the storage level. If level K has an empty `CheckpointLevel::directory`,
  /// the snapshots of level K are in memory for K = 0, in `CheckpointOptions::directory` for K = 1, and in the
  /// subdirectory `level_K` of `CheckpointOptions::directory` for K ≥ 2.
  std::string directory;
};

/// Quantities that are measured to plan a schedule (`CheckpointOptions::memory`), unless `measures` gives their values.
struct PlanMeasures {
  std::int64_t held_bytes = 0;  ///< memory in use by this rank's process, including the temporary memory of a step
  double write = 0.0;           ///< time to write a snapshot to the disk, in units of the run time of a step
  double read = 0.0;            ///< time to read a snapshot, in units of the run time of a step
};

/// Options of the checkpointing that bounds the memory of a gradient computation.
struct CheckpointOptions {
  CheckpointSchedule schedule = CheckpointSchedule::all;  ///< checkpoint schedule; not used if `memory` is given
  /// Number of steps at the end of the rollout whose adjoints are computed; 0 means all steps. If the adjoints of some
  /// steps are not computed, the gradient is approximate.
  int last = 0;
  /// Number of steps between successive snapshots (schedule `uniform`) or between successive snapshots on level 1
  /// (schedule `two_level`).
  int every = 10;
  /// Maximum number of snapshots that exist at the same time with the schedules `revolve` and `online`, including a
  /// snapshot of the state before the first step whose adjoint is computed. With the schedule `two_level`, `snapshots`
  /// is the maximum number of snapshots on level 0, including a snapshot of the first state of the segment of `every`
  /// steps whose adjoints are being computed.
  int snapshots = 20;
  CheckpointStore store = CheckpointStore::memory;  ///< store of the snapshots
  std::string directory = "checkpoints";            ///< directory of the snapshots of the stores `hdf5` and `tiered`
  std::vector<CheckpointLevel> levels = {};         ///< levels of the schedule `multi_level` and of the store `tiered`
  /// Memory for the sweep. If `memory` is given, the checkpoint schedule is planned (chosen automatically), and
  /// `schedule`, `every` and `snapshots` are not used. With the store `tiered`, a planned schedule may use the disk.
  MemoryBudget memory = {};
  MemoryBudget disk = {};  ///< disk space for snapshots of a planned schedule; default: half of the free disk space
  /// Values of the quantities that are needed to plan a schedule. If `measures` is given, only the run times of a
  /// step and of the step's adjoint are measured, not the quantities in `measures`.
  std::optional<PlanMeasures> measures = {};
  bool single = false;      ///< true: snapshots are rounded to float32, so the gradient is approximate
  bool compressed = false;  ///< true: snapshots in HDF5 files are compressed without loss
  /// Wall time (s) between two saves of the sweep's progress, from which an interrupted sweep can resume.
  double interval = 600.0;
};

}  // namespace diffsim
