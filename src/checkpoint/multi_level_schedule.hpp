// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"

namespace diffsim {

/// Storage level for snapshots: memory, a local disk, or a shared disk.
struct StorageLevel {
  int capacity = 0;  ///< maximum number of snapshots
  double write_seconds = 0.0;
  double read_seconds = 0.0;
};

/// Schedule with the least run time for given costs and capacities of several storage levels; level 0 is the fastest.
/// The schedule is computed by dynamic programming over the length of a part of the rollout and the free capacity of a
/// storage level, which is the level's capacity minus the number of snapshots stored on the level. Whenever a snapshot
/// is written to a storage level, no snapshot is stored on a faster level. Source: J. Herrmann, G. Pallez, H-Revolve,
/// ACM TOMS 46, 2020.
///
/// The schedule stores the record of only one step at a time, and the adjoint of this step is computed immediately
/// afterwards. A snapshot remains on the storage level to which the snapshot was written until the adjoints of all
/// steps after the snapshot, or of all these steps except the first, are computed. For n steps, the construction of the
/// schedule takes O(n²) time and O(n) memory for each snapshot that reduces the run time. Capacity for further
/// snapshots adds no time and no memory to the construction.
class MultiLevelSchedule : public Schedule {
 public:
  /// Creates the schedule. `step_seconds`: run time of a step. Throws Error (input) if a storage level is faster than
  /// the level before it in `levels`, or if no level has capacity for the initial state.
  MultiLevelSchedule(int num_steps, std::vector<StorageLevel> levels, double step_seconds);
  std::string name() const override { return "multi-level"; }
  Action next() override;

  /// Time, in the unit of `step_seconds`, of all steps that are executed without a record, and of all writes and reads
  /// of snapshots.
  double seconds() const;
  /// Size in bytes of one table of the dynamic programme. The number of tables of the dynamic programme for a storage
  /// level is the number of snapshots on this level that reduce the run time, plus one.
  static std::size_t table_bytes(int num_steps);

 private:
  // Least run times of parts of the rollout, for each length of the part and for a given free capacity of a level
  // (number of snapshots that still fit on the level); no snapshot is stored on a faster level.
  struct Table {
    std::vector<double> unstored;  // time if the first state is the present state and is not stored
    std::vector<double> stored;    // time if the first state is the present state and is stored on this level
    std::vector<int> split;        // number of steps to the next snapshot if the first state is stored

    bool operator==(const Table&) const = default;
  };
  struct Task {
    enum class Kind { unstored, stored, restore, discard, reverse };
    Kind kind;
    int begin;
    int end;
    int level;
    int unused;  // free capacity of `level`
  };

  const Table& table(int level, int unused) const;
  double unstored(int level, int unused, int length) const;
  double without(int level, int length) const;
  double again(int level, const Table& table, int length) const;
  Table make_table(int level) const;
  Task faster(const Task& task) const;

  std::vector<StorageLevel> levels_;
  double step_seconds_;
  int num_steps_;
  std::vector<std::vector<Table>> tables_;  // [level][free capacity]; a level's last table: also larger capacities
  std::vector<Task> tasks_;                 // stack of tasks; the last task is the next one
};

}  // namespace diffsim
