// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/snapshot_tracker.hpp"

#include "checkpoint/checkpoint_directory.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

void SnapshotTracker::clear() {
  stored_.clear();
  missing_.clear();
  damage_.clear();
}

void SnapshotTracker::put(const SnapshotLocation& location, const State& state) {
  store_.at_level(location.level).put(location.step, state);
  missing_.erase(location);
  stored_.insert(location);
}

bool SnapshotTracker::get(const SnapshotLocation& location, State& state) {
  try {
    store_.at_level(location.level).get(location.step, state);
  } catch (const Error& error) {
    if (!is_damage(error)) throw;
    damage_ = error.what();
    stored_.erase(location);
    missing_.insert(location);
    return false;
  }
  return true;
}

void SnapshotTracker::discard(const SnapshotLocation& location) {
  missing_.erase(location);
  if (stored_.erase(location) > 0) store_.at_level(location.level).erase(location.step);
}

std::optional<SnapshotLocation> SnapshotTracker::latest(int step, int after) const {
  std::optional<SnapshotLocation> found;
  for (const SnapshotLocation& location : stored_)
    if (location.step <= step && location.step > (found ? found->step : after)) found = location;
  return found;
}

std::vector<SnapshotLocation> SnapshotTracker::missing_of(int step) const {
  std::vector<SnapshotLocation> found;
  for (const SnapshotLocation& location : missing_)
    if (location.step == step) found.push_back(location);
  return found;
}

}  // namespace diffsim
