// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/store.hpp"

namespace diffsim {

/// Store that consists of one store for each storage level of a schedule, in the order from the fastest to the slowest
/// level. The functions `put`, `get` and `erase` of a TieredStore use the store of the fastest level.
class TieredStore : public Store {
 public:
  explicit TieredStore(std::vector<std::unique_ptr<Store>> levels);
  ~TieredStore() override;

  std::string name() const override { return "tiered"; }
  void put(int step, const State& state) override { levels_.front()->put(step, state); }
  void get(int step, State& state) override { levels_.front()->get(step, state); }
  void erase(int step) override { levels_.front()->erase(step); }
  /// Returns the store of the storage level `level`. Throws Error if the storage level `level` does not exist.
  Store& at_level(int level) override;
  StoreStatistics statistics() const override;

 private:
  std::vector<std::unique_ptr<Store>> levels_;
};

}  // namespace diffsim
