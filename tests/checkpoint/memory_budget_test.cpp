// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/memory_budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

int ranks() {
  int result = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

TEST(MemoryBudget, CountsBytesOfAllRanks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const CheckpointPlan plan =
      plan_checkpoints(MPI_COMM_WORLD, {100'000, 0.0}, 10'000, 100 * (rank + 1), 50 * (rank + 1));
  const int sum = ranks() * (ranks() + 1) / 2;
  EXPECT_EQ(plan.bytes, sum * (100 * plan.snapshots + 50 * plan.records));
  EXPECT_LE(plan.bytes, 100'000);
  EXPECT_GE(plan.bytes, 80'000);
  EXPECT_THROW(plan_checkpoints(MPI_COMM_WORLD, {149, 0.0}, 1000, 100, 50), Error);
}

TEST(MemoryBudget, TakesAShareOfWhatIsFree) {
  const double free = free_memory_bytes();
  ASSERT_TRUE(std::isfinite(free));
  EXPECT_GT(free, 1e6);
  EXPECT_LT(free, 1e15);
  // A record too large to be kept for every step; memory in use changes meanwhile, if little.
  const auto mega = std::int64_t{1} << 20;
  const CheckpointPlan plan = plan_checkpoints(MPI_COMM_WORLD, {0, 0.1}, 1'000'000, mega, mega);
  EXPECT_GT(plan.snapshots, 0);
  EXPECT_LE(static_cast<double>(plan.bytes), 0.11 * free);
  EXPECT_GE(static_cast<double>(plan.bytes), 0.08 * free);
}

}  // namespace
}  // namespace diffsim
