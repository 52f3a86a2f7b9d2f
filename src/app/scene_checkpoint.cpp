// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

/// Parses a budget: "2GiB", "500 MB", a number of bytes, or "50%" of the free amount. `what` names the resource: memory
/// or disk space.
MemoryBudget to_budget(const Value& value, const std::string& what) {
  static constexpr std::array<std::pair<const char*, double>, 10> units{{{"", 1.0},
                                                                         {"B", 1.0},
                                                                         {"kB", 1e3},
                                                                         {"MB", 1e6},
                                                                         {"GB", 1e9},
                                                                         {"TB", 1e12},
                                                                         {"KiB", 1024.0},
                                                                         {"MiB", 1048576.0},
                                                                         {"GiB", 1073741824.0},
                                                                         {"TiB", 1099511627776.0}}};
  const std::string text = to_text(value);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  unit.erase(0, unit.find_first_not_of(' '));
  const bool is_number = end != text.c_str() && std::isfinite(number) && number > 0.0;
  MemoryBudget budget;
  if (is_number && unit == "%" && number <= 100.0) {
    budget.share = number / 100.0;
    return budget;
  }
  for (const auto& [name, bytes] : units)
    if (is_number && unit == name && number * bytes >= 1.0 && number * bytes < 9e18) {
      budget.bytes = static_cast<std::int64_t>(number * bytes);
      return budget;
    }
  value.place.fail("'" + text + "' is not an amount of " + what +
                   "; give a value such as 2GiB, 500MB, or 50% of what is free");
}

double to_cost(const Value& value) {
  const double cost = to_number(value);
  if (cost < 0.0)
    value.place.fail(value.text + " is negative; give the time of one snapshot as a multiple of a step's time, >= 0");
  return cost;
}

std::vector<CheckpointLevel> parse_levels(const Value& value) {
  std::vector<CheckpointLevel> levels;
  for (const Value* item : to_items(value)) {
    const Mapping mapping(*item, {"snapshots", "write", "read", "directory"});
    CheckpointLevel level;
    level.snapshots = to_integer(mapping.need("snapshots", "the number of snapshots that the level can hold"), 1);
    if (const Value* write = mapping.find("write")) level.write = to_cost(*write);
    if (const Value* read = mapping.find("read")) level.read = to_cost(*read);
    if (const Value* directory = mapping.find("directory")) level.directory = to_text(*directory);
    if (!levels.empty() && (level.write < levels.back().write || level.read < levels.back().read))
      item->place.fail("is faster than the previous level; give the fastest level first");
    levels.push_back(level);
  }
  if (levels.empty()) value.place.fail("is an empty list; give levels such as {snapshots: 10}");
  return levels;
}

/// Parses the schedule and its options. A scene may contain options of several schedules: options that the chosen
/// schedule does not use are not an error.
void parse_schedule(const Mapping& mapping, CheckpointOptions& options) {
  const Value* schedule = mapping.find("schedule");
  const Value* every = mapping.find("every");
  const Value* levels = mapping.find("levels");
  if (schedule)
    options.schedule = to_enum<CheckpointSchedule>(*schedule, checkpoint_schedules);
  else if (every)
    options.schedule = CheckpointSchedule::uniform;
  else if (levels)
    options.schedule = CheckpointSchedule::multi_level;
  else if (mapping.has("snapshots"))
    options.schedule = CheckpointSchedule::revolve;
  if (every) options.every = to_integer(*every, 1);
  if (const Value* snapshots = mapping.find("snapshots")) options.snapshots = to_integer(*snapshots, 1);
  if (!every && (options.schedule == CheckpointSchedule::uniform || options.schedule == CheckpointSchedule::two_level))
    mapping.place_of("every").fail("is missing; give the steps between snapshots");
  if (levels) options.levels = parse_levels(*levels);
  if (!levels && options.schedule == CheckpointSchedule::multi_level)
    mapping.place_of("levels").fail(
        "is missing; give a list such as [{snapshots: 10}, {snapshots: 100, write: 2, read: 1}]");
  if (options.schedule == CheckpointSchedule::multi_level && options.levels.size() > 1)
    options.store = CheckpointStore::tiered;
}

/// Parses the limits of memory and disk space. Must be called after all other options are parsed.
void parse_budgets(const Mapping& mapping, CheckpointOptions& options) {
  if (const Value* memory = mapping.find("memory")) {
    options.memory = to_budget(*memory, "memory");
    for (const char* key : {"schedule", "every", "snapshots", "levels"})
      if (mapping.has(key))
        mapping.place_of(key).fail(
            "cannot be combined with checkpoint.memory, which plans this value; remove one of them");
    if (options.store == CheckpointStore::hdf5)
      mapping.place_of("store").fail(
          "checkpoint.memory plans snapshots in memory, or in memory and on a disk; use store: memory or tiered, or "
          "give a schedule");
  }
  if (const Value* disk = mapping.find("disk")) {
    options.disk = to_budget(*disk, "disk space");
    if (!options.memory.is_given() || options.store != CheckpointStore::tiered)
      disk->place.fail("limits the disk space of a planned schedule; also give checkpoint.memory and store: tiered");
  }
}

}  // namespace

CheckpointOptions parse_checkpoint(const Value& value, bool& measure_error) {
  const Mapping mapping(value, {"schedule", "snapshots", "every", "levels", "last", "memory", "disk", "store",
                                "directory", "precision", "compression", "measure_error", "interval"});
  CheckpointOptions options;
  parse_schedule(mapping, options);
  if (const Value* store = mapping.find("store")) options.store = to_enum<CheckpointStore>(*store, checkpoint_stores);
  if (const Value* directory = mapping.find("directory")) options.directory = to_text(*directory);
  if (const Value* precision = mapping.find("precision"))
    options.single = to_choice(*precision, {"double", "single"}) == "single";
  if (const Value* compression = mapping.find("compression")) {
    options.compressed = to_choice(*compression, {"none", "deflate"}) == "deflate";
    if (options.compressed && options.store == CheckpointStore::memory)
      compression->place.fail("applies only to snapshots in HDF5; use store: hdf5 or tiered, or compression: none");
  }
  if (const Value* last = mapping.find("last")) {
    options.last = to_integer(*last, 1);
    if (options.schedule == CheckpointSchedule::online)
      last->place.fail("needs a schedule that knows the number of steps; use a schedule other than online");
  }
  if (const Value* measure = mapping.find("measure_error")) measure_error = to_boolean(*measure);
  if (const Value* interval = mapping.find("interval")) {
    options.interval = to_number(*interval);
    if (options.interval < 0.0) interval->place.fail(interval->text + " is negative; give " + number_from_zero("s"));
  }
  parse_budgets(mapping, options);
  return options;
}

}  // namespace diffsim::app
