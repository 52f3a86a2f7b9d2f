// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/multi_level_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "checkpoint/least_sum.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

using Kind = Action::Kind;

constexpr double never = std::numeric_limits<double>::infinity();

void check(const std::vector<StorageLevel>& levels, double step_seconds) {
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0.0; };
  if (!is_time(step_seconds)) throw Error("the time of a step must be finite and non-negative", ErrorKind::input);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const std::string what = "storage level " + std::to_string(k) + ": ";
    const StorageLevel& level = levels[k];
    if (level.capacity < 0) throw Error(what + "its capacity is negative", ErrorKind::input);
    if (!is_time(level.write_seconds) || !is_time(level.read_seconds))
      throw Error(what + "the times to write and to read must be finite and non-negative", ErrorKind::input);
    if (k > 0 && (level.write_seconds < levels[k - 1].write_seconds || level.read_seconds < levels[k - 1].read_seconds))
      throw Error(what + "it is faster than the previous level; give the fastest level first", ErrorKind::input);
  }
}

}  // namespace

// Recurrences for the tables of a level. `Table` defines unstored and stored. again(c, l) is the least time for l steps
// if the first state is stored on this level and is not the present state. T(l) is the least time for l steps with
// faster levels only. w, r and a are the times of a write, a read and a step. c is the number of free snapshots on this
// level.
//
//   unstored(c, l) = min { T(l), w + stored(c−1, l) },                            unstored(c, 1) = 0
//   stored(c, l) = min over m of { a·m + unstored(c, l−m) + again(c, m) },        stored(c, 1) = 0
//   again(c, l) = r + min { T(l), stored(c, l) }
//
// In `again`, T(l) is the case in which the snapshot is restored and the sub-rollout is reversed with faster levels
// only. In `stored`, again(c, m) is the time to restore the first state and reverse the first m steps.
MultiLevelSchedule::MultiLevelSchedule(int num_steps, std::vector<StorageLevel> levels, double step_seconds)
    : levels_(std::move(levels)), step_seconds_(step_seconds), num_steps_(num_steps) {
  check(levels_, step_seconds);
  const int slowest = static_cast<int>(levels_.size()) - 1;
  for (int level = 0; level <= slowest; ++level) {
    tables_.emplace_back();
    for (int unused = 0; unused <= levels_[static_cast<std::size_t>(level)].capacity; ++unused) {
      Table next = make_table(level);
      if (unused > 0 && next == tables_.back().back()) break;  // more free snapshots do not reduce the time
      tables_.back().push_back(std::move(next));
    }
  }
  if (num_steps_ < 1) return;
  if (num_steps_ > 1 && seconds() == never)
    throw Error("the storage levels have no room for a snapshot: at least 1 is needed, the initial state",
                ErrorKind::input);
  tasks_.push_back({Task::Kind::unstored, 0, num_steps_, slowest, slowest < 0 ? 0 : levels_.back().capacity});
}

const MultiLevelSchedule::Table& MultiLevelSchedule::table(int level, int unused) const {
  const std::vector<Table>& tables = tables_[static_cast<std::size_t>(level)];
  return tables[std::min(static_cast<std::size_t>(unused), tables.size() - 1)];
}

double MultiLevelSchedule::unstored(int level, int unused, int length) const {
  if (length == 1) return 0.0;
  if (level < 0) return never;
  return table(level, unused).unstored[static_cast<std::size_t>(length)];
}

// Least time for `length` steps if only levels faster than `level` are used, and if these levels are empty.
double MultiLevelSchedule::without(int level, int length) const {
  return unstored(level - 1, level > 0 ? levels_[static_cast<std::size_t>(level) - 1].capacity : 0, length);
}

// Least time for `length` steps if the first state is stored on `level` and is not the present state.
double MultiLevelSchedule::again(int level, const Table& table, int length) const {
  return levels_[static_cast<std::size_t>(level)].read_seconds +
         std::min(without(level, length), table.stored[static_cast<std::size_t>(length)]);
}

// Computes the next table of a level. The table is for as many free snapshots as the level already has tables.
MultiLevelSchedule::Table MultiLevelSchedule::make_table(int level) const {
  const std::vector<Table>& fewer = tables_[static_cast<std::size_t>(level)];
  const auto size = static_cast<std::size_t>(std::max(num_steps_, 1)) + 1;
  Table result{std::vector<double>(size, 0.0), std::vector<double>(size, 0.0), std::vector<int>(size, 0)};
  checkpoint::LeastSum stored(size);
  for (int length = 1; length <= num_steps_; ++length) {
    const auto l = static_cast<std::size_t>(length);
    if (length > 1) {
      result.unstored[l] = without(level, length);
      if (!fewer.empty())
        result.unstored[l] = std::min(result.unstored[l],
                                      levels_[static_cast<std::size_t>(level)].write_seconds + fewer.back().stored[l]);
      std::tie(result.stored[l], result.split[l]) = stored.next();
    }
    stored.add(step_seconds_ * length + again(level, result, length), result.unstored[l]);
  }
  return result;
}

std::size_t MultiLevelSchedule::table_bytes(int num_steps) {
  return (static_cast<std::size_t>(std::max(num_steps, 1)) + 1) * (2 * sizeof(double) + sizeof(int)) + sizeof(Table);
}

double MultiLevelSchedule::seconds() const {
  if (num_steps_ < 2) return 0.0;
  const int slowest = static_cast<int>(levels_.size()) - 1;
  return unstored(slowest, slowest < 0 ? 0 : levels_.back().capacity, num_steps_);
}

MultiLevelSchedule::Task MultiLevelSchedule::faster(const Task& task) const {
  return {Task::Kind::unstored, task.begin, task.end, task.level - 1,
          task.level > 0 ? levels_[static_cast<std::size_t>(task.level) - 1].capacity : 0};
}

Action MultiLevelSchedule::next() {
  while (!tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    const int length = task.end - task.begin;
    switch (task.kind) {
      case Task::Kind::unstored:
        if (length == 1) {
          tasks_.push_back({Task::Kind::reverse, task.begin, task.end, 0, 0});
          return {Kind::record, task.begin, task.end};
        }
        if (unstored(task.level, task.unused, length) == without(task.level, length)) {
          tasks_.push_back(faster(task));
          break;
        }
        tasks_.push_back({Task::Kind::stored, task.begin, task.end, task.level, task.unused - 1});
        return {Kind::store, task.begin, 0, task.level};
      case Task::Kind::stored: {
        if (length == 1) {
          tasks_.push_back({Task::Kind::unstored, task.begin, task.end, task.level, task.unused});
          return {Kind::discard, task.begin, 0, task.level};
        }
        const int middle = task.begin + table(task.level, task.unused).split[static_cast<std::size_t>(length)];
        tasks_.push_back({Task::Kind::restore, task.begin, middle, task.level, task.unused});
        tasks_.push_back({Task::Kind::unstored, middle, task.end, task.level, task.unused});
        return {Kind::advance, task.begin, middle};
      }
      case Task::Kind::restore:
        if (length > 1 &&
            without(task.level, length) <= table(task.level, task.unused).stored[static_cast<std::size_t>(length)]) {
          tasks_.push_back({Task::Kind::discard, task.begin, task.end, task.level, 0});
          tasks_.push_back(faster(task));
        } else {
          tasks_.push_back({Task::Kind::stored, task.begin, task.end, task.level, task.unused});
        }
        return {Kind::restore, task.begin, 0, task.level};
      case Task::Kind::discard:
        return {Kind::discard, task.begin, 0, task.level};
      case Task::Kind::reverse:
        return {Kind::reverse, task.begin, task.end};
    }
  }
  return {};
}

}  // namespace diffsim
