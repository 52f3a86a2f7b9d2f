// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store.hpp"

#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {

void MemoryStore::put(int step, const State& state) {
  erase(step);
  // The store may have been used before for states with other fields, for example states joined with their derivatives.
  if (!free_.empty() &&
      (free_.back().fields().size() != state.fields().size() || free_.back().bytes() != state.bytes()))
    free_.clear();
  if (free_.empty()) {
    snapshots_.emplace(step, state.clone());
    return;
  }
  State reused = std::move(free_.back());
  free_.pop_back();
  reused.copy_from(state);
  snapshots_.emplace(step, std::move(reused));
}

void MemoryStore::get(int step, State& state) {
  const auto found = snapshots_.find(step);
  if (found == snapshots_.end()) throw Error("no snapshot of step " + std::to_string(step) + " in memory");
  state.copy_from(found->second);
}

void MemoryStore::erase(int step) {
  const auto found = snapshots_.find(step);
  if (found == snapshots_.end()) return;
  free_.push_back(std::move(found->second));
  snapshots_.erase(found);
  // When the last snapshot is erased, the memory reserved for later snapshots is freed: the next sweep may need this
  // memory for records.
  if (snapshots_.empty()) free_.clear();
}

}  // namespace diffsim
