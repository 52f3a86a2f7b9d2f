// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/two_level_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "checkpoint/schedule.hpp"
#include "checkpoint/schedule_checker.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::two_level_schedule_test {
namespace {

TEST(TwoLevelSchedule, ReversesEachSegmentBinomially) {
  for (const int snapshots : {1, 2, 3, 5, 20}) {
    for (const int segment : {1, 2, 3, 7, 25, 60, 100}) {
      for (int n = 1; n <= 130; ++n) {
        const int segments = (n + segment - 1) / segment;
        const int last = n - (segments - 1) * segment;
        TwoLevelSchedule schedule(n, segment, snapshots);
        testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse(schedule, n, {snapshots, segments - 1});
        ASSERT_EQ(result.fault, "") << n << " steps in segments of " << segment << ", " << snapshots << " snapshots";
        ASSERT_EQ(result.advances, (segments - 1L) * (segment + revolve_advances(segment, snapshots)) +
                                       revolve_advances(last, snapshots));
        ASSERT_EQ(result.stores[1], segments - 1);
        ASSERT_EQ(result.restores[1], segments - 1);
      }
    }
  }
}

TEST(TwoLevelSchedule, RunsOnOneStoreToo) {
  for (const int segment : {1, 4, 10}) {
    TwoLevelSchedule schedule(37, segment, 2);
    EXPECT_EQ(testing_checkpoint::fault_on_one_store(schedule), "") << segment;
  }
}

TEST(TwoLevelSchedule, KeepsASegmentOnDiskUntilItIsReversed) {
  TwoLevelSchedule schedule(30, 10, 2);
  int reversed = 30;
  for (Action action = schedule.next(); action.kind != Action::Kind::done; action = schedule.next()) {
    if (action.kind == Action::Kind::reverse) reversed = action.begin;
    if (action.kind == Action::Kind::discard && action.level == 1) {
      EXPECT_EQ(action.begin, reversed);
    }
  }
  EXPECT_EQ(reversed, 0);
}

TEST(TwoLevelSchedule, TakesTheExtremesOfItsArguments) {
  TwoLevelSchedule none(0, 4, 2);
  EXPECT_EQ(testing_checkpoint::rehearse(none, 0, {2, 0}).fault, "");
  TwoLevelSchedule whole(7, std::numeric_limits<int>::max(), 2);
  EXPECT_EQ(testing_checkpoint::rehearse(whole, 7, {2}).fault, "");  // no snapshot on the disk
  EXPECT_THROW(TwoLevelSchedule(10, 0, 2), Error);
  EXPECT_THROW(TwoLevelSchedule(10, 3, 0), Error);
}

}  // namespace
}  // namespace diffsim::two_level_schedule_test
