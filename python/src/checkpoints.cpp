// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes of the options of checkpoints.

#include "checkpoints.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::python {
namespace {

/// Returns the value of an enumeration whose values 0, 1, … have `names`. Throws InputError for any other name.
template <class Enum, std::size_t N>
Enum enum_named(const std::string& name, const std::array<const char*, N>& names, const std::string& what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  std::string all;
  for (const char* one : names) all += (all.empty() ? "" : ", ") + std::string(one);
  throw InputError("there is no " + what + " '" + name + "'; use one of: " + all);
}

/// Returns a limit: a fraction of the free amount for values up to 1, a number of bytes for larger values.
MemoryBudget budget_of(const std::optional<double>& amount, const std::string& what) {
  if (!amount) return {};
  if (!(*amount > 0.0 && *amount < 9e18))
    throw InputError(what + " must be a fraction in (0, 1] of what is free, or a number of bytes above 1");
  if (*amount <= 1.0) return {.bytes = 0, .share = *amount};
  return {.bytes = static_cast<std::int64_t>(*amount), .share = 0.0};
}

void bind_level(nb::module_& module) {
  nb::class_<CheckpointLevel>(module, "CheckpointLevel", "Storage level of the checkpoint schedule multi_level.")
      .def(
          "__init__",
          [](CheckpointLevel* self, int snapshots, double write, double read, const std::string& directory) {
            new (self) CheckpointLevel{.snapshots = snapshots, .write = write, .read = read, .directory = directory};
          },
          nb::arg("snapshots"), nb::arg("write") = 0.0, nb::arg("read") = 0.0, nb::arg("directory") = "",
          R"(Create a level.

snapshots: maximum number of snapshots. write, read: times to write and to read a snapshot, as multiples of the time of
a step. directory: folder on a disk; if empty, level 0 is in memory, and the other levels are in the directory of
CheckpointOptions.)")
      .def_ro("snapshots", &CheckpointLevel::snapshots, "Maximum number of snapshots.")
      .def_ro("write", &CheckpointLevel::write, "Time to write a snapshot, in steps.")
      .def_ro("read", &CheckpointLevel::read, "Time to read a snapshot, in steps.")
      .def_ro("directory", &CheckpointLevel::directory, "Folder on a disk, or empty.");
}

}  // namespace

void bind_checkpoints(nb::module_& module) {
  bind_level(module);
  using Options = CheckpointOptions;
  nb::class_<Options>(module, "CheckpointOptions", "Options of the checkpoints that bound the memory of a gradient.")
      .def(
          "__init__",
          [](Options* self, const std::string& schedule, int every, int snapshots, const std::string& store,
             const std::string& directory, const std::vector<CheckpointLevel>& levels, std::optional<double> memory,
             std::optional<double> disk, int last, bool single, bool compressed) {
            Options made;
            made.schedule = enum_named<CheckpointSchedule>(schedule, checkpoint_schedules, "schedule");
            made.store = enum_named<CheckpointStore>(store, checkpoint_stores, "store");
            made.every = every;
            made.snapshots = snapshots;
            made.directory = directory;
            made.levels = levels;
            made.memory = budget_of(memory, "memory");
            made.disk = budget_of(disk, "disk");
            made.last = last;
            made.single = single;
            made.compressed = compressed;
            new (self) Options(std::move(made));
          },
          nb::arg("schedule") = "all", nb::kw_only(), nb::arg("every") = Options{}.every,
          nb::arg("snapshots") = Options{}.snapshots, nb::arg("store") = "memory",
          nb::arg("directory") = Options{}.directory, nb::arg("levels") = std::vector<CheckpointLevel>{},
          nb::arg("memory") = nb::none(), nb::arg("disk") = nb::none(), nb::arg("last") = 0, nb::arg("single") = false,
          nb::arg("compressed") = false,
          R"(Create options.

schedule: all (no step is repeated), uniform, revolve, online, two_level, multi_level or reversible. every: number of
steps between snapshots, for uniform and two_level. snapshots: maximum number of snapshots, for revolve, online and
two_level. store: memory, hdf5 (files in `directory`) or tiered (level 0 in memory, other levels in files). levels:
storage levels of multi_level. memory: limit of the memory of all ranks in bytes, or, up to 1, a fraction of the free
memory; the schedule is then planned. disk: limit of the disk space of a planned schedule with the store tiered, in the
same form. last: number of steps at the end that are reversed; 0 for all. single: whether snapshots are rounded to
float32. compressed: whether snapshots in files are compressed.)")
      .def_prop_ro(
          "schedule", [](const Options& options) { return to_string(options.schedule); }, "Name of the schedule.")
      .def_prop_ro(
          "store", [](const Options& options) { return to_string(options.store); }, "Name of the store.")
      .def_rw("every", &Options::every, "Number of steps between snapshots.")
      .def_rw("snapshots", &Options::snapshots, "Maximum number of snapshots.")
      .def_rw("directory", &Options::directory, "Folder of snapshots in files.")
      .def_rw("levels", &Options::levels, "Copy of the list of storage levels.")
      .def_rw("last", &Options::last, "Number of steps at the end that are reversed; 0 for all.")
      .def_rw("single", &Options::single, "Whether snapshots are rounded to float32.")
      .def_rw("compressed", &Options::compressed, "Whether snapshots in files are compressed.");
}

}  // namespace diffsim::python
