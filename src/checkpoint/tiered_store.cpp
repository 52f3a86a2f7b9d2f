// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/tiered_store.hpp"

#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {

TieredStore::TieredStore(std::vector<std::unique_ptr<Store>> levels) : levels_(std::move(levels)) {
  if (levels_.empty()) throw Error("a tiered store needs at least one level", ErrorKind::input);
}

TieredStore::~TieredStore() {
  // The directory of a slower level may be inside the directory of a faster level, so the stores of slower levels, with
  // their directories, are removed first.
  while (!levels_.empty()) levels_.pop_back();
}

Store& TieredStore::at_level(int level) {
  if (level < 0 || level >= static_cast<int>(levels_.size()))
    throw Error("the checkpoint schedule uses level " + std::to_string(level) + " of a tiered store that has " +
                std::to_string(levels_.size()));
  return *levels_[static_cast<std::size_t>(level)];
}

StoreStatistics TieredStore::statistics() const {
  StoreStatistics sum;
  for (const auto& level : levels_) {
    const StoreStatistics one = level->statistics();
    sum.bytes_written += one.bytes_written;
    sum.seconds_waiting += one.seconds_waiting;
  }
  return sum;
}

}  // namespace diffsim
