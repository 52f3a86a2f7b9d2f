// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/multi_level_schedule.hpp"
#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Checkpointing plan for the available memory: numbers of snapshots and of records of time steps, and the resulting
/// cost. `plan_checkpoints` computes a plan from a memory budget.
struct CheckpointPlan {
  int num_steps = 0;
  int snapshots = 0;                ///< maximum number of snapshots in memory; 0 if all steps are recorded
  int disk_snapshots = 0;           ///< maximum number of snapshots on the disk
  int records = 0;                  ///< maximum number of records of time steps in memory at the same time
  std::int64_t bytes = 0;           ///< maximum size of the records and the snapshots in memory together, bytes
  std::int64_t recomputations = 0;  ///< number of steps executed without a record, in addition to the recorded steps
  std::int64_t writes = 0;          ///< number of snapshots written to the disk
  std::int64_t reads = 0;           ///< number of snapshots read from the disk
  /// Time of all executed steps and of all writes and reads of snapshots, divided by the number of steps of the rollout
  /// and by the run time of a step. Adjoints are not included.
  double ratio = 1.0;
  /// Storage levels of the MultiLevelSchedule, with times in units of the run time of a step; empty if the disk is not
  /// used.
  std::vector<StorageLevel> levels;
  std::int64_t held = 0;  ///< memory in use by the processes when the plan is computed, bytes
  /// Memory that the forward and reverse runs need in addition to snapshots and records of time steps, bytes.
  std::int64_t beside = 0;

  std::unique_ptr<Schedule> make_schedule() const;
  /// Summary of the plan in one line, for example "revolve: 12 snapshots, 3 records, 1.20 GiB; 13100 steps repeated,
  /// 2.31 forward steps for each of 10000".
  std::string summary() const;
};

/// Properties of a disk on which a plan may place snapshots.
struct DiskLevel {
  std::int64_t snapshots = 0;  ///< number of snapshots that fit on the disk
  double write = 0.0;          ///< time to write a snapshot, in units of the run time of a step
  double read = 0.0;           ///< time to read a snapshot, in units of the run time of a step
  std::int64_t buffers = 0;    ///< memory in bytes of the buffers for writing and reading snapshots
  int processes = 1;           ///< number of processes, each with a copy of the schedule's tables in memory
};

/// Returns the plan with the fewest repeated steps within the memory budget `budget_bytes`. Among plans with the same
/// number of repeated steps, returns the plan with the fewest bytes. The three sizes `state_bytes`, `record_bytes` and
/// `budget_bytes` are either those of one rank or sums over the ranks. If the records of all steps fit into the budget,
/// every step is recorded and no step is repeated. If the records of all steps do not fit into the budget, the budget
/// is divided optimally between snapshots and records of a RevolveSchedule, which never repeats more steps than a
/// UniformSchedule in the same memory.
///
/// The memory budget covers snapshots and records only: the caller must already have subtracted all other memory from
/// the budget. Throws Error (input) if the budget is too small for one snapshot and one record, and also too small for
/// the records of all steps; the message of the Error states the memory of one snapshot and one record.
CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes);

/// Overload of `plan_checkpoints` that also places snapshots on a disk if the disk reduces the run time. The schedule
/// of a plan with snapshots on the disk is a MultiLevelSchedule with level 0 in memory, level 1 on the disk, and one
/// record; the disk's buffers and the schedule's tables count towards the budget. For n steps, the number of snapshots
/// of the MultiLevelSchedule is limited by n² · snapshots ≤ 1e10, so that planning takes at most about 3 s.
CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes, const DiskLevel& disk);

}  // namespace diffsim
