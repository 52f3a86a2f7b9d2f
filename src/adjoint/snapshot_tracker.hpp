// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/store.hpp"

namespace diffsim {

/// Storage level and step number of a snapshot (stored state).
struct SnapshotLocation {
  int level = 0, step = 0;
  auto operator<=>(const SnapshotLocation&) const = default;
};

/// List of the snapshots (stored states) of an adjoint sweep. A SnapshotTracker lists the snapshots in the store, and
/// missing snapshots, which exist according to the checkpoint schedule, but are not in the store. A snapshot is missing
/// if the sweep did not have the state of the snapshot when the checkpoint schedule requested the snapshot, for example
/// after an interruption, or if the stored snapshot is damaged.
class SnapshotTracker {
 public:
  /// Creates a SnapshotTracker without snapshots. The Store must outlive the SnapshotTracker.
  explicit SnapshotTracker(Store& store) : store_(store) {}

  /// Clears the list of stored snapshots, the list of missing snapshots and the error message `damage()`, without
  /// changing the store.
  void clear();
  /// Writes `state`, the state x[n] with n = `location.step`, to the level `location.level` of the store.
  void put(const SnapshotLocation& location, const State& state);
  /// Adds the snapshot at `location` to the list of missing snapshots.
  void expect(const SnapshotLocation& location) { missing_.insert(location); }
  /// Reads a snapshot from the store into `state`. If the snapshot is damaged, `get` returns false and adds the
  /// snapshot to the list of missing snapshots, `damage()` returns the error message, and the contents of `state` are
  /// unspecified.
  bool get(const SnapshotLocation& location, State& state);
  /// Removes a snapshot from the store and from the list of missing snapshots.
  void discard(const SnapshotLocation& location);

  bool is_stored(const SnapshotLocation& location) const { return stored_.contains(location); }
  bool is_missing(const SnapshotLocation& location) const { return missing_.contains(location); }
  /// Returns the location of the stored snapshot with the largest step number s in the range `after` < s ≤ `step`. If
  /// several storage levels have a snapshot of the same step, returns the location on the lowest level. If no stored
  /// snapshot has a step number s with `after` < s ≤ `step`, the result has no value.
  std::optional<SnapshotLocation> latest(int step, int after) const;
  /// Returns the locations of all missing snapshots of the state x[n] with n = `step`.
  std::vector<SnapshotLocation> missing_of(int step) const;
  /// Error message about the last damaged snapshot that `get` tried to read; empty if `get` has found no damaged
  /// snapshot.
  const std::string& damage() const { return damage_; }

 private:
  Store& store_;
  std::set<SnapshotLocation> stored_, missing_;
  std::string damage_;
};

}  // namespace diffsim
