// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/from_options.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "checkpoint/hdf5_store.hpp"
#include "checkpoint/multi_level_schedule.hpp"
#include "checkpoint/online_schedule.hpp"
#include "checkpoint/reversible_schedule.hpp"
#include "checkpoint/revolve_schedule.hpp"
#include "checkpoint/rounded_store.hpp"
#include "checkpoint/schedule_plan.hpp"
#include "checkpoint/tiered_store.hpp"
#include "checkpoint/truncated_schedule.hpp"
#include "checkpoint/two_level_schedule.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

std::unique_ptr<Store> make_memory_store(const CheckpointOptions& options) {
  if (options.single) return std::make_unique<RoundedStore>();
  return std::make_unique<MemoryStore>();
}

/// Returns true if the gradient may be computed at states that are restored from snapshots.
bool has_snapshots(const CheckpointOptions& options) {
  const bool stores_none =
      options.schedule == CheckpointSchedule::all || options.schedule == CheckpointSchedule::reversible;
  return options.memory.is_given() || !stores_none;
}

std::unique_ptr<Store> make_hdf5_store(const CheckpointOptions& options, MPI_Comm comm, const std::string& directory,
                                       std::shared_ptr<CheckpointDirectory> shared, const RowOrder* order) {
  if (!shared) shared = std::make_shared<CheckpointDirectory>(comm, directory);
  return std::make_unique<Hdf5Store>(std::move(shared), order ? *order : RowOrder(comm),
                                     SnapshotFormat{options.single, options.compressed});
}

std::unique_ptr<Store> make_tiered_store(const CheckpointOptions& options, MPI_Comm comm,
                                         const std::shared_ptr<CheckpointDirectory>& shared, const RowOrder* order) {
  std::vector<std::unique_ptr<Store>> levels;
  const std::size_t count = std::max<std::size_t>(options.levels.size(), 2);
  for (std::size_t k = 0; k < count; ++k) {
    std::string directory = k < options.levels.size() ? options.levels[k].directory : "";
    const bool is_main = k == 1 && directory.empty();
    if (is_main) directory = options.directory;
    if (directory.empty() && k > 0)
      directory = (std::filesystem::path(options.directory) / ("level_" + std::to_string(k))).string();
    if (directory.empty())
      levels.push_back(make_memory_store(options));
    else
      levels.push_back(make_hdf5_store(options, comm, directory, is_main ? shared : nullptr, order));
  }
  return std::make_unique<TieredStore>(std::move(levels));
}

std::unique_ptr<Schedule> make_multi_level_schedule(const CheckpointOptions& options, int num_steps) {
  std::vector<StorageLevel> levels;
  for (const CheckpointLevel& level : options.levels) levels.push_back({level.snapshots, level.write, level.read});
  return std::make_unique<MultiLevelSchedule>(num_steps, std::move(levels), 1.0);
}

std::unique_ptr<Schedule> make_whole_schedule(const CheckpointOptions& options, int num_steps) {
  switch (options.schedule) {
    case CheckpointSchedule::all:
      return std::make_unique<AllSchedule>(num_steps);
    case CheckpointSchedule::uniform:
      return std::make_unique<UniformSchedule>(num_steps, options.every);
    case CheckpointSchedule::revolve:
      return std::make_unique<RevolveSchedule>(num_steps, options.snapshots);
    case CheckpointSchedule::online:
      return std::make_unique<OnlineSchedule>(options.snapshots);
    case CheckpointSchedule::two_level:
      return std::make_unique<TwoLevelSchedule>(num_steps, options.every, options.snapshots);
    case CheckpointSchedule::multi_level:
      return make_multi_level_schedule(options, num_steps);
    case CheckpointSchedule::reversible:
      return std::make_unique<ReversibleSchedule>(num_steps);
  }
  throw Error("unknown checkpoint schedule");
}

}  // namespace

void use_subdirectory(const std::string& name, CheckpointOptions& options) {
  options.directory += "/" + name;
  for (CheckpointLevel& level : options.levels)
    if (!level.directory.empty()) level.directory += "/" + name;
}

int skipped_steps(const CheckpointOptions& options, int num_steps) {
  return options.last > 0 ? std::max(num_steps - options.last, 0) : 0;
}

std::string approximation_of(const CheckpointOptions& options, int num_steps) {
  std::string text;
  if (const int skipped = skipped_steps(options, num_steps); skipped > 0)
    text = "the gradient is that of the last " + std::to_string(num_steps - skipped) + " of " +
           std::to_string(num_steps) + " steps only (checkpoint.last)";
  if (options.single && has_snapshots(options))
    text += std::string(text.empty() ? "the gradient" : ", and") +
            " is taken at states rounded to float32 (checkpoint.precision)";
  return text;
}

std::unique_ptr<Schedule> make_schedule(const CheckpointOptions& options, int num_steps, const CheckpointPlan* plan) {
  const int skipped = skipped_steps(options, num_steps);
  std::unique_ptr<Schedule> schedule = plan ? plan->make_schedule() : make_whole_schedule(options, num_steps - skipped);
  if (skipped == 0) return schedule;
  return std::make_unique<TruncatedSchedule>(skipped, std::move(schedule));
}

std::unique_ptr<Store> make_store(const CheckpointOptions& options, MPI_Comm comm,
                                  std::shared_ptr<CheckpointDirectory> shared, const RowOrder* order) {
  switch (options.store) {
    case CheckpointStore::memory:
      return make_memory_store(options);
    case CheckpointStore::hdf5:
      return make_hdf5_store(options, comm, options.directory, std::move(shared), order);
    case CheckpointStore::tiered:
      return make_tiered_store(options, comm, shared, order);
  }
  throw Error("unknown checkpoint store");
}

}  // namespace diffsim
