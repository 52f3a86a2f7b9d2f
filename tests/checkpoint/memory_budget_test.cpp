// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/checkpoint_options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "checkpoint/budget_plan.hpp"
#include "checkpoint/multi_level_schedule.hpp"
#include "checkpoint/schedule_plan.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::memory_budget_test {
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
      plan_checkpoints(MPI_COMM_WORLD, {100'000, 0.0}, 10'000, {100 * (rank + 1), 50 * (rank + 1)});
  const int sum = ranks() * (ranks() + 1) / 2;
  EXPECT_EQ(plan.bytes, sum * (100 * plan.snapshots + 50 * plan.records));
  EXPECT_LE(plan.bytes, 100'000);
  EXPECT_GE(plan.bytes, 80'000);
  EXPECT_THROW(plan_checkpoints(MPI_COMM_WORLD, {149, 0.0}, 1000, {100, 50}), Error);
}

TEST(MemoryBudget, IsForAllThatTheProcessesHold) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::int64_t held = 3'000 * (rank + 1), beside = 700 * (rank + 1), sum = ranks() * (ranks() + 1) / 2;
  const CheckpointPlan whole =
      plan_checkpoints(MPI_COMM_WORLD, {100'000 + sum * 3'700, 0.0}, 10'000, {100, 50, held, beside});
  const CheckpointPlan rest = plan_checkpoints(MPI_COMM_WORLD, {100'000, 0.0}, 10'000, {100, 50});
  EXPECT_EQ(whole.snapshots, rest.snapshots);
  EXPECT_EQ(whole.records, rest.records);
  EXPECT_EQ(whole.held, sum * 3'000);
  EXPECT_EQ(whole.beside, sum * 700);
  // With one byte less than the minimum, no plan is made, and the message reports all figures.
  const std::int64_t least = ranks() * 150 + sum * 3'700;
  EXPECT_EQ(plan_checkpoints(MPI_COMM_WORLD, {least, 0.0}, 10'000, {100, 50, held, beside}).snapshots, 1);
  try {
    plan_checkpoints(MPI_COMM_WORLD, {least - 1, 0.0}, 10'000, {100, 50, held, beside});
    ADD_FAILURE() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    if (ranks() == 1) {
      EXPECT_STREQ(error.what(),
                   "checkpoints within 3.76 KiB: the processes hold 2.93 KiB already, the sweep needs 700 B in "
                   "addition to snapshots and records, and one snapshot and one record need 150 B, in total 3.76 KiB "
                   "at least; give at least that much memory, fewer ranks or a smaller problem");
    }
  }
  // A rollout that needs less than one snapshot and one record.
  EXPECT_EQ(plan_checkpoints(MPI_COMM_WORLD, {ranks() * 50 + sum * 3'700, 0.0}, 1, {100, 50, held, beside}).records, 1);
}

TEST(MemoryBudget, AShareIsOfWhatIsFreeBeyondWhatIsHeld) {
  // Memory already used does not count as free memory. Memory that the sweep uses in addition to its snapshots does.
  const auto part = static_cast<std::int64_t>(0.1 * free_memory_bytes());
  const auto mega = std::int64_t{1} << 20;
  const auto planned = [&](std::int64_t held, std::int64_t beside) {
    return plan_checkpoints(MPI_COMM_WORLD, {0, 0.1}, 1'000'000, {mega, mega, held, beside});
  };
  EXPECT_GE(planned(100 * part, 0).bytes, 8 * part / 10);
  const std::int64_t half = part / (2 * ranks());
  EXPECT_LE(planned(0, half).bytes, 6 * part / 10);
  EXPECT_GE(planned(0, half).bytes, 4 * part / 10);
  EXPECT_THROW(planned(0, 2 * part), Error);
}

TEST(MemoryBudget, IsGivenInBytesOrAsAShareAndNotAsBoth) {
  EXPECT_THROW(plan_checkpoints(MPI_COMM_WORLD, {100'000, 0.5}, 1000, {100, 50}), Error);
}

TEST(MemoryBudget, PlansADiskFromFiguresOfAllRanks) {
  const DiskLevel disk{10, 0.1, 0.1, 300};
  const auto table = static_cast<std::int64_t>(MultiLevelSchedule::table_bytes(100));
  const std::int64_t budget = ranks() * (4'000'000 + 300 + 15 * table);
  const CheckpointPlan plan = plan_checkpoints(MPI_COMM_WORLD, {budget, 0.0}, 100, {1'000'000, 1'000'000}, &disk);
  EXPECT_EQ(plan.snapshots, 3);
  EXPECT_GT(plan.disk_snapshots, 0);
  EXPECT_EQ(plan.bytes, ranks() * 4'000'000);
  EXPECT_EQ(plan.beside, ranks() * (300 + 15 * table));
  EXPECT_EQ(plan_checkpoints(MPI_COMM_WORLD, {budget - 1, 0.0}, 100, {1'000'000, 1'000'000}, &disk).snapshots, 2);
}

TEST(MemoryBudget, TakesAShareOfWhatIsFree) {
  const double free = free_memory_bytes();
  ASSERT_TRUE(std::isfinite(free));
  EXPECT_GT(free, 1e6);
  EXPECT_LT(free, 1e15);
  // The record is too large to be kept for every step. The amount of free memory may change slightly during the test.
  const auto mega = std::int64_t{1} << 20;
  const CheckpointPlan plan = plan_checkpoints(MPI_COMM_WORLD, {0, 0.1}, 1'000'000, {mega, mega});
  EXPECT_GT(plan.snapshots, 0);
  EXPECT_LE(static_cast<double>(plan.bytes), 0.11 * free);
  EXPECT_GE(static_cast<double>(plan.bytes), 0.08 * free);
}

}  // namespace
}  // namespace diffsim::memory_budget_test
