// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"

namespace diffsim {

/// Counters of the disk traffic of a Store of snapshots since the creation of the Store.
struct StoreStatistics {
  std::int64_t bytes_written = 0;  ///< number of bytes that all ranks have written to disk
  double seconds_waiting = 0.0;    ///< time (s) that this rank has spent waiting for a disk
};

/// Storage for snapshots, which are stored states of a simulation. A restored state is bitwise identical to the stored
/// state, unless the store rounds values (RoundedStore, `SnapshotFormat::single`). All operations of a Store are
/// collective over the ranks that share the stored states.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::string name() const = 0;
  virtual void put(int step, const State& state) = 0;
  /// Reads the snapshot of state `step` into `state`. Throws Error if the snapshot of state `step` does not exist or is
  /// damaged.
  virtual void get(int step, State& state) = 0;
  virtual void erase(int step) = 0;
  /// Returns the store for the snapshots of one storage level of a schedule. In a store without storage levels,
  /// `at_level` returns the store itself for every level.
  virtual Store& at_level(int) { return *this; }
  virtual StoreStatistics statistics() const { return {}; }
};

/// Store of snapshots in the memory space of the state (host or device). The memory of erased snapshots is reused for
/// new snapshots, and is freed when the last snapshot is erased.
class MemoryStore : public Store {
 public:
  std::string name() const override { return "memory"; }
  void put(int step, const State& state) override;
  void get(int step, State& state) override;
  void erase(int step) override;

 private:
  std::map<int, State> snapshots_;
  std::vector<State> free_;
};

}  // namespace diffsim
