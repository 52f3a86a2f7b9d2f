// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/checkpoint/schedule.hpp"

namespace diffsim {

/// A place for snapshots: memory, a local disk, a shared disk.
struct StorageLevel {
  int capacity = 0;  ///< snapshots at a time
  double write_seconds = 0.0;
  double read_seconds = 0.0;
};

/// The fastest reversal for given costs and capacities of several stores, level 0 the fastest of them: a dynamic
/// programme over the lengths of sub-rollouts and the snapshots still free on a level, all faster levels being free
/// whenever a slower one is written. (J. Herrmann, G. Pallez, H-Revolve, ACM TOMS 46, 2020.)
///
/// Every step is recorded and reversed alone. A snapshot on a slow level stays there until all steps after it are
/// reversed. Making one takes O(n²) time and O(n) memory for each snapshot that helps (more of them than help cost
/// nothing).
class MultiLevelSchedule : public Schedule {
 public:
  /// Throws Error (input) where a level is faster than the one before it, or where there is no room for the initial
  /// state.
  MultiLevelSchedule(int num_steps, std::vector<StorageLevel> levels, double step_seconds);
  std::string name() const override { return "multi-level"; }
  Action next() override;

  /// Time of all advances, writes and reads; the n recorded steps and their adjoints come on top.
  double seconds() const;
  /// Memory that it takes for each snapshot that helps, and for each level.
  static std::size_t table_bytes(int num_steps);

 private:
  // For sub-rollouts of each length, with a number of snapshots free on a level and on all faster ones.
  struct Table {
    std::vector<double> unstored;  // time, the first state being present and not stored
    std::vector<double> stored;    // likewise, it being stored on this level
    std::vector<int> split;        // steps to the next snapshot in the latter case

    bool operator==(const Table&) const = default;
  };
  struct Task {
    enum class Kind { unstored, stored, restore, discard, reverse };
    Kind kind;
    int begin;
    int end;
    int level;
    int unused;  // snapshots free on it
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
  std::vector<std::vector<Table>> tables_;  // of level k with c snapshots free; the last one stands for any more
  std::vector<Task> tasks_;                 // the next one last
};

}  // namespace diffsim
