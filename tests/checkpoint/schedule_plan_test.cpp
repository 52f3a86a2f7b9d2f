// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "checkpoint/revolve_schedule.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/schedule_checker.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::schedule_plan_test {
namespace {

constexpr std::int64_t mebi = 1 << 20;

struct Problem {
  int num_steps;
  std::int64_t state;
  std::int64_t record;
};

class Plans : public ::testing::TestWithParam<Problem> {};

TEST_P(Plans, StayWithinTheBudgetAndUseIt) {
  const auto [n, state, record] = GetParam();
  const std::int64_t least = state + record;
  long before = std::numeric_limits<long>::max();
  for (std::int64_t budget = least; budget < 2 * n * record; budget += std::max<std::int64_t>(budget / 17, 1)) {
    const CheckpointPlan plan = plan_checkpoints(n, state, record, budget);
    const std::string what = plan.summary() + ", of " + std::to_string(budget) + " bytes";
    const std::unique_ptr<Schedule> schedule = plan.make_schedule();
    testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse(*schedule, n, {plan.snapshots}, plan.records);
    ASSERT_EQ(result.fault, "") << what;
    const std::int64_t used = result.peak[0] * state + result.peak_records * record;
    ASSERT_LE(used, plan.bytes) << what;
    ASSERT_LE(plan.bytes, budget) << what;
    ASSERT_EQ(result.advances, plan.recomputations) << what;
    ASSERT_DOUBLE_EQ(plan.ratio, static_cast<double>(n + result.advances) / n);
    ASSERT_LE(result.advances, before) << "more memory, more work: " << what;
    before = result.advances;
    // The unused memory is less than one record, unless no step is repeated.
    if (plan.recomputations > 0) {
      ASSERT_LT(budget - used, record) << what;
      if (budget >= 5 * record) {
        ASSERT_GE(static_cast<double>(used), 0.8 * static_cast<double>(budget)) << what;
      }
    }
    // The plan needs no more work than equidistant snapshots, for any distance.
    for (int every = 1; every <= n; ++every)
      if (const std::int64_t segments = (n + every - 1) / every; (segments - 1) * state + every * record <= budget) {
        ASSERT_LE(plan.recomputations, (segments - 1) * every) << what;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, Plans,
                         ::testing::Values(Problem{100, 1000, 1000}, Problem{100, 1000, 100}, Problem{100, 1000, 7000},
                                           Problem{317, 48, 72}, Problem{40, 1, 1}, Problem{2, 10, 10},
                                           Problem{1, 10, 10}));

TEST(CheckpointPlan, IsTheBestOfAllSplitsOfTheMemory) {
  constexpr int n = 60;
  constexpr std::int64_t state = 3;
  constexpr std::int64_t record = 5;
  for (std::int64_t budget = state + record; budget <= n * record; ++budget) {
    std::int64_t best = budget >= n * record ? 0 : std::numeric_limits<std::int64_t>::max();
    for (int snapshots = 1; snapshots <= n; ++snapshots)
      for (int records = 1; records <= n; ++records)
        if (snapshots * state + records * record <= budget)
          best = std::min<std::int64_t>(best, revolve_advances(n, snapshots, records));
    ASSERT_EQ(plan_checkpoints(n, state, record, budget).recomputations, best) << budget;
  }
}

TEST(CheckpointPlan, KeepsEveryRecordWhereTheyFit) {
  const CheckpointPlan plan = plan_checkpoints(1000, 30 * mebi, 10 * mebi, 10'000 * mebi);
  EXPECT_EQ(plan.snapshots, 0);
  EXPECT_EQ(plan.records, 1000);
  EXPECT_EQ(plan.recomputations, 0);
  EXPECT_EQ(plan.make_schedule()->name(), "all");
  EXPECT_EQ(plan.summary(), "all: 1000 records, 9.77 GiB; 1.00 forward steps for each of 1000");
  EXPECT_GT(plan_checkpoints(1000, 30 * mebi, 10 * mebi, 10'000 * mebi - 1).recomputations, 0);
}

TEST(CheckpointPlan, SaysWhatItIs) {
  EXPECT_EQ(plan_checkpoints(3, 2 * mebi, 2 * mebi, 4 * mebi).summary(),
            "revolve: 1 snapshot, 1 record, 4.00 MiB; 3 steps repeated, 2.00 forward steps for each of 3");
}

TEST(CheckpointPlan, TakesTheExtremesOfItsArguments) {
  EXPECT_EQ(plan_checkpoints(0, 10, 10, 0).bytes, 0);
  EXPECT_EQ(plan_checkpoints(10, 0, 0, 0).recomputations, 0);
  EXPECT_EQ(plan_checkpoints(10, 8, 0, 0).recomputations, 0);  // records that need no memory
  EXPECT_EQ(plan_checkpoints(10, 0, 8, 8).recomputations, 9);  // snapshots that need no memory
  EXPECT_THROW(plan_checkpoints(-1, 8, 8, 100), Error);
  EXPECT_THROW(plan_checkpoints(10, -8, 8, 100), Error);
  const CheckpointPlan large = plan_checkpoints(1'000'000, 4'000 * mebi, 4'000 * mebi, 400'000'000 * mebi);
  EXPECT_LE(large.bytes, 400'000'000 * mebi);
  EXPECT_LT(large.ratio, 2.0);
}

/// Plans with memory for `in_memory` states and one record, in addition to the buffers of the disk level and the tables
/// of the schedule.
CheckpointPlan plan_with_disk(int n, int in_memory, const DiskLevel& disk) {
  constexpr std::int64_t state = 1'000'000;
  const auto tables = static_cast<std::int64_t>(in_memory + disk.snapshots + 2) * disk.processes *
                      static_cast<std::int64_t>(MultiLevelSchedule::table_bytes(n));
  return plan_checkpoints(n, state, state, (in_memory + 1) * state + disk.buffers + tables, disk);
}

TEST(PlanWithADisk, DoesWhatItPredicts) {
  for (const int n : {20, 100, 317})
    for (const int in_memory : {1, 2, 5})
      for (const std::int64_t on_disk : {1, 4, 9})
        for (const double cost : {0.0, 0.3, 2.0, 11.0, 1e4}) {
          const DiskLevel disk{on_disk, cost, 0.5 * cost, 1234, 2};
          const CheckpointPlan plan = plan_with_disk(n, in_memory, disk);
          const CheckpointPlan without = plan_with_disk(n, in_memory, {0, cost, cost, 1234, 2});
          const std::string what = plan.summary() + "; cost " + std::to_string(cost);
          const std::unique_ptr<Schedule> schedule = plan.make_schedule();
          testing_checkpoint::Rehearsal result =
              testing_checkpoint::rehearse(*schedule, n, {plan.snapshots, plan.disk_snapshots}, plan.records);
          ASSERT_EQ(result.fault, "") << what;
          ASSERT_LE(plan.snapshots, in_memory) << what;
          ASSERT_LE(plan.disk_snapshots, on_disk) << what;
          ASSERT_EQ(result.advances, plan.recomputations) << what;
          ASSERT_EQ(result.stores[1], plan.writes) << what;
          ASSERT_EQ(result.restores[1], plan.reads) << what;
          const double steps = n + static_cast<double>(result.advances) + cost * static_cast<double>(plan.writes) +
                               0.5 * cost * static_cast<double>(plan.reads);
          ASSERT_NEAR(plan.ratio, steps / n, 1e-12 * plan.ratio) << what;
          ASSERT_LE(plan.ratio, without.ratio) << what;
        }
}

TEST(PlanWithADisk, UsesOneThatIsCheapOnly) {
  const CheckpointPlan none = plan_with_disk(200, 3, {0, 0.0, 0.0, 0, 1});
  const CheckpointPlan cheap = plan_with_disk(200, 3, {20, 0.5, 0.5, 0, 1});
  const CheckpointPlan expensive = plan_with_disk(200, 3, {20, 1e4, 1e4, 0, 1});
  EXPECT_GT(cheap.disk_snapshots, 5);
  EXPECT_LT(cheap.ratio, 0.7 * none.ratio);
  EXPECT_EQ(expensive.disk_snapshots, 0);
  EXPECT_TRUE(expensive.levels.empty());
  EXPECT_EQ(expensive.make_schedule()->name(), "revolve");
  EXPECT_EQ(cheap.make_schedule()->name(), "multi-level");
}

TEST(PlanWithADisk, IsNoneWhereEveryRecordFitsOrThereIsNoRoomForBuffers) {
  const DiskLevel disk{20, 0.1, 0.1, 0, 1};
  EXPECT_EQ(plan_checkpoints(100, 1000, 1000, 100'000, disk).make_schedule()->name(), "all");
  DiskLevel large = disk;
  large.buffers = 4'000'000;
  EXPECT_FALSE(plan_checkpoints(100, 1'000'000, 1'000'000, 4'000'000, disk).levels.empty());
  EXPECT_TRUE(plan_checkpoints(100, 1'000'000, 1'000'000, 4'000'000, large).levels.empty());
  // A rollout that is too long for the dynamic programme.
  EXPECT_TRUE(plan_checkpoints(200'000, 1'000'000'000, 1'000'000, 4'000'000'000, disk).levels.empty());
}

TEST(PlanWithADisk, SaysWhatItIs) {
  EXPECT_EQ(
      plan_with_disk(100, 2, {3, 1.0, 1.0, 0, 1}).summary(),
      "multi-level: 2 snapshots in memory, 3 on the disk, 1 record, 2.86 MiB; 319 steps repeated, 7 writes and 16 "
      "reads, the time of 4.42 forward steps for each of 100");
}

TEST(CheckpointPlan, NamesTheLeastThatWouldDo) {
  try {
    plan_checkpoints(10, 3 * mebi, mebi, 4 * mebi - 1);
    FAIL() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("4.00 MiB"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace diffsim::schedule_plan_test
