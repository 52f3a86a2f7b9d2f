// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/checkpoint/multi_level_schedule.hpp"
#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// How a rollout is to be reversed in the memory there is.
struct CheckpointPlan {
  int num_steps = 0;
  int snapshots = 0;                 ///< states kept in memory at a time, none where every step's record is
  int disk_snapshots = 0;            ///< states kept on a disk at a time
  int records = 0;                   ///< records kept at a time
  std::int64_t bytes = 0;            ///< of snapshots in memory and records together, at most
  std::int64_t recomputations = 0;   ///< steps taken beyond the n that are recorded
  std::int64_t writes = 0;           ///< of snapshots to the disk
  std::int64_t reads = 0;            ///< of snapshots from the disk
  double ratio = 1.0;                ///< time per step of the rollout, in steps: repetitions, writes and reads included
  std::vector<StorageLevel> levels;  ///< of MultiLevelSchedule, times in steps; empty: no disk is used
  std::int64_t held = 0;             ///< bytes that the processes hold when the plan is made
  std::int64_t beside = 0;           ///< bytes that the sweep takes further, beside snapshots and records

  std::unique_ptr<Schedule> make_schedule() const;
  /// One line: "revolve: 12 snapshots, 3 records, 1.2 GiB; 13100 steps repeated, 2.31 forward steps for each of 10000"
  std::string summary() const;
};

/// A disk that a plan may keep snapshots on.
struct DiskLevel {
  std::int64_t snapshots = 0;  ///< at a time, that it has room for
  double write = 0.0;          ///< time to write one, in steps
  double read = 0.0;           ///< time to read one, in steps
  std::int64_t buffers = 0;    ///< bytes of memory that snapshots take on their way to the disk and back
  int processes = 1;           ///< that have the schedule's tables in memory, each its own
};

/// The plan with the fewest repeated steps that stays within `budget_bytes`; among equals, the one with the fewest
/// bytes. All numbers are of one rank, or of all ranks. Every record is kept where they fit; otherwise snapshots and
/// records share the budget as is best for RevolveSchedule, which never repeats more than UniformSchedule in the same
/// memory.
///
/// The budget is what is left for snapshots and records: all else has been subtracted. Throws Error (input), naming the
/// least that would do, where not even one snapshot and one record fit.
CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes);

/// The plan of least time, with snapshots on a disk as well where that takes less: a MultiLevelSchedule with level 0 in
/// memory and level 1 on the disk, one record, and the disk's buffers and the schedule's tables within the budget. That
/// schedule is worked out for so many snapshots as take about 3 s, n² · snapshots ≤ 1e10.
CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes, const DiskLevel& disk);

}  // namespace diffsim
