// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/store.hpp"

namespace diffsim {

/// Store of snapshots, rounded to float32, in the memory space of the state (host or device). A RoundedStore takes half
/// of the memory of a MemoryStore. The memory of erased snapshots is reused for new snapshots, and is freed when the
/// last snapshot is erased.
class RoundedStore : public Store {
 public:
  RoundedStore();
  ~RoundedStore() override;
  std::string name() const override { return "memory"; }
  void put(int step, const State& state) override;
  void get(int step, State& state) override;
  void erase(int step) override;

 private:
  struct Snapshot;
  std::map<int, std::unique_ptr<Snapshot>> snapshots_;
  std::vector<std::unique_ptr<Snapshot>> free_;
};

}  // namespace diffsim
