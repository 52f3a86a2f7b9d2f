// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>

#include "checkpoint/store.hpp"

namespace diffsim {

/// Store of snapshots (stored states) in memory that keeps all snapshots until the store is destroyed; `erase` does
/// nothing.
class KeptStore final : public MemoryStore {
 public:
  void put(int step, const State& state) override {
    MemoryStore::put(step, state);
    steps_.insert(step);
  }
  void erase(int /*step*/) override {}
  const std::set<int>& steps() const { return steps_; }  ///< steps of the snapshots

 private:
  std::set<int> steps_;
};

}  // namespace diffsim
