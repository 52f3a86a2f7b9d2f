// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/schedule_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <tuple>

#include "diffsim/checkpoint/revolve_schedule.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

std::string in_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < units.size(); ++unit) value /= 1024.0;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text.data();
}

std::string count(int number, const std::string& what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

// How many of `bytes` each fit, `most` at most.
int fitting(std::int64_t budget, std::int64_t bytes, int most) {
  return bytes == 0 ? most : static_cast<int>(std::min<std::int64_t>(budget / bytes, most));
}

}  // namespace

std::unique_ptr<Schedule> CheckpointPlan::make_schedule() const {
  if (snapshots == 0) return std::make_unique<AllSchedule>(num_steps);
  return std::make_unique<RevolveSchedule>(num_steps, snapshots, records);
}

std::string CheckpointPlan::summary() const {
  std::array<char, 32> times{};
  std::snprintf(times.data(), times.size(), "%.2f", ratio);
  return (snapshots == 0 ? "all: " : "revolve: " + count(snapshots, "snapshot") + ", ") + count(records, "record") +
         ", " + in_bytes(bytes) + "; " +
         (recomputations > 0 ? std::to_string(recomputations) + " steps repeated, " : "") + times.data() +
         " forward steps for each of " + std::to_string(num_steps);
}

CheckpointPlan plan_checkpoints(int num_steps, std::int64_t state_bytes, std::int64_t record_bytes,
                                std::int64_t budget_bytes) {
  if (num_steps < 0 || state_bytes < 0 || record_bytes < 0)
    throw Error("a checkpoint plan needs numbers of steps and bytes that are not negative", ErrorKind::input);
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

}  // namespace diffsim
