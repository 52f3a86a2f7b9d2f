// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/state.hpp"

namespace diffsim {

/// Traffic of stores with disks so far.
struct StoreStatistics {
  std::int64_t bytes_written = 0;  ///< by all ranks
  double seconds_waiting = 0.0;    ///< how long this rank could not go on
};

/// Keeps snapshots of a state, bit for bit. Verbs are collective over the ranks that share the state.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::string name() const = 0;
  virtual void put(int step, const State& state) = 0;
  /// Throws Error where snapshot `step` is not there or not whole.
  virtual void get(int step, State& state) = 0;
  virtual void erase(int step) = 0;
  /// Where a schedule's snapshots of a level lie. A store that knows no levels keeps them all.
  virtual Store& at_level(int) { return *this; }
  virtual StoreStatistics statistics() const { return {}; }
};

/// Snapshots in the memory that the state lives in; what was erased is used again, as long as there are any.
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
