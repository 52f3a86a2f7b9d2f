// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <tuple>

#include "checkpoint/byte_text.hpp"
#include "checkpoint/revolve_schedule.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

namespace checkpoint {

std::string in_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < units.size(); ++unit) value /= 1024.0;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text.data();
}

}  // namespace checkpoint

namespace {

using checkpoint::in_bytes;

std::string count(int number, const std::string& what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

// Number of objects of size `bytes` that fit into a budget, at most `most`.
int fitting(std::int64_t budget, std::int64_t bytes, int most) {
  return bytes == 0 ? most : static_cast<int>(std::min<std::int64_t>(budget / bytes, most));
}

/// Number of steps that a schedule advances and, for each of two levels, the numbers of snapshots written and read and
/// the maximum number of snapshots that exist at the same time.
struct Tally {
  std::int64_t advances = 0;
  std::array<std::int64_t, 2> writes{};
  std::array<std::int64_t, 2> reads{};
  std::array<int, 2> most{};
};

Tally tally(Schedule& schedule) {
  Tally result;
  std::array<int, 2> kept{};
  for (Action action = schedule.next(); action.kind != Action::Kind::done; action = schedule.next()) {
    const auto level = static_cast<std::size_t>(action.level);
    if (action.kind == Action::Kind::advance) result.advances += action.end - action.begin;
    if (action.kind == Action::Kind::restore) ++result.reads[level];
    if (action.kind == Action::Kind::discard) --kept[level];
    if (action.kind != Action::Kind::store) continue;
    ++result.writes[level];
    result.most[level] = std::max(result.most[level], ++kept[level]);
  }
  return result;
}

/// Maximum number of snapshots for which a MultiLevelSchedule of n steps is computed: n² · snapshots ≤ 1e10.
std::int64_t plannable(int num_steps) {
  const std::int64_t n = num_steps;
  return std::min(n, std::int64_t{10'000'000'000} / (n * n));
}

}  // namespace

std::unique_ptr<Schedule> CheckpointPlan::make_schedule() const {
  if (!levels.empty()) return std::make_unique<MultiLevelSchedule>(num_steps, levels, 1.0);
  if (snapshots == 0) return std::make_unique<AllSchedule>(num_steps);
  return std::make_unique<RevolveSchedule>(num_steps, snapshots, records);
}

std::string CheckpointPlan::summary() const {
  std::array<char, 32> times{};
  std::snprintf(times.data(), times.size(), "%.2f", ratio);
  std::string text = "all: ";
  if (!levels.empty())
    text = "multi-level: " + count(snapshots, "snapshot") + " in memory, " + std::to_string(disk_snapshots) +
           " on the disk, ";
  else if (snapshots > 0)
    text = "revolve: " + count(snapshots, "snapshot") + ", ";
  text += count(records, "record") + ", " + in_bytes(bytes) + "; ";
  if (recomputations > 0) text += std::to_string(recomputations) + " steps repeated, ";
  if (!levels.empty()) text += std::to_string(writes) + " writes and " + std::to_string(reads) + " reads, the time of ";
  return text + times.data() + " forward steps for each of " + std::to_string(num_steps);
}

CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes) {
  if (num_steps < 0 || state_bytes < 0 || record_bytes < 0)
    throw Error("a checkpoint plan needs non-negative numbers of steps and bytes", ErrorKind::input);
  CheckpointPlan plan;
  plan.num_steps = num_steps;
  plan.records = fitting(budget_bytes, record_bytes, num_steps);
  if (plan.records < num_steps) {
    const int most = fitting(budget_bytes - record_bytes, state_bytes, num_steps);
    if (most < 1)
      throw Error("checkpoints within " + in_bytes(std::max<std::int64_t>(budget_bytes, 0)) +
                      ": one snapshot and one record need " + in_bytes(state_bytes + record_bytes) +
                      "; give more memory, more ranks or a smaller problem",
                  ErrorKind::input);
    auto best = std::make_tuple(std::numeric_limits<std::int64_t>::max(), std::int64_t{0});
    for (int snapshots = 1; snapshots <= most; ++snapshots) {
      const int records = fitting(budget_bytes - snapshots * state_bytes, record_bytes, num_steps);
      const std::int64_t bytes = snapshots * state_bytes + records * record_bytes;
      const auto candidate = std::make_tuple(std::int64_t{revolve_advances(num_steps, snapshots, records)}, bytes);
      if (candidate >= best) continue;
      best = candidate;
      plan.snapshots = snapshots;
      plan.records = records;
    }
    plan.recomputations = std::get<0>(best);
    plan.ratio += static_cast<double>(plan.recomputations) / num_steps;
  }
  plan.bytes = plan.snapshots * state_bytes + plan.records * record_bytes;
  return plan;
}

CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes, const DiskLevel& disk) {
  CheckpointPlan plan = plan_checkpoints(num_steps, state_bytes, record_bytes, budget_bytes);
  if (plan.recomputations == 0) return plan;
  const std::int64_t most = plannable(num_steps), on_disk = std::min(disk.snapshots, most / 2);
  const auto table_bytes =
      static_cast<std::int64_t>(MultiLevelSchedule::table_bytes(num_steps)) * std::int64_t{disk.processes};
  // On each of the two levels, the number of tables is the number of snapshots plus one.
  const std::int64_t left = budget_bytes - record_bytes - disk.buffers - (on_disk + 2) * table_bytes;
  const std::int64_t in_memory = std::min(left / std::max<std::int64_t>(state_bytes + table_bytes, 1), most - on_disk);
  if (on_disk < 1 || left < 0 || in_memory < 1) return plan;
  const std::vector<StorageLevel> levels{{static_cast<int>(in_memory), 0.0, 0.0},
                                         {static_cast<int>(on_disk), disk.write, disk.read}};
  MultiLevelSchedule schedule(num_steps, levels, 1.0);
  const double steps = schedule.seconds();
  if (!(steps < static_cast<double>(plan.recomputations))) return plan;
  const Tally counts = tally(schedule);
  plan.levels = levels;
  plan.snapshots = counts.most[0];
  plan.disk_snapshots = counts.most[1];
  plan.records = 1;
  plan.bytes = plan.snapshots * state_bytes + record_bytes;
  plan.recomputations = counts.advances;
  plan.writes = counts.writes[1];
  plan.reads = counts.reads[1];
  plan.ratio = 1.0 + steps / num_steps;
  plan.beside = disk.buffers + (in_memory + on_disk + 2) * table_bytes;
  return plan;
}

}  // namespace diffsim
