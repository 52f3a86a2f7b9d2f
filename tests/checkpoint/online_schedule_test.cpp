// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/online_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint/schedule.hpp"
#include "checkpoint/schedule_checker.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::online_schedule_test {
namespace {

// Returns the least r with C(s+r, s) ≥ n.
int repetitions(int n, int s) {
  int r = 0;
  for (long reach = 1; reach < n; ++r) reach = reach * (s + r + 1) / (r + 1);
  return r;
}

TEST(OnlineSchedule, RepeatsNoStepMoreOftenThanItMust) {
  for (int s = 1; s <= 20; ++s) {
    for (int n = 1; n <= 300; ++n) {
      OnlineSchedule schedule(s);
      const testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse_told(schedule, n, {s});
      const int r = repetitions(n + 1, s);
      ASSERT_EQ(result.fault, "") << n << " steps, " << s << " snapshots";
      ASSERT_EQ(result.records, n);
      ASSERT_EQ(result.most_repeated, r) << n << " steps, " << s << " snapshots";
      ASSERT_GE(result.advances, revolve_advances(n + 1, s)) << n << " steps, " << s << " snapshots";
      ASSERT_LE(result.advances, static_cast<long>(r) * n) << n << " steps, " << s << " snapshots";
    }
  }
}

// Worst ratio over all lengths n up to 300. The first ratio refers to t(n+1, s), the optimum of a schedule that is
// notified of the end when the end is reached. The second, for n ≥ s+2, refers to t(n, s), the optimum of a schedule
// that knows the end in advance.
TEST(OnlineSchedule, StaysNearTheOptimum) {
  struct Row {
    int snapshots;
    double told_at_the_end;
    double told_beforehand;
  };
  for (const Row& row : {Row{1, 1.000, 2.000}, Row{2, 1.122, 1.500}, Row{3, 1.184, 1.400}, Row{5, 1.250, 1.286},
                         Row{10, 1.311, 1.327}, Row{20, 1.380, 1.389}}) {
    const int s = row.snapshots;
    double told_at_the_end = 0.0;
    double told_beforehand = 0.0;
    for (int n = 1; n <= 300; ++n) {
      OnlineSchedule schedule(s);
      const auto advances = static_cast<double>(testing_checkpoint::rehearse_told(schedule, n, {s}).advances);
      told_at_the_end = std::max(told_at_the_end, advances / static_cast<double>(revolve_advances(n + 1, s)));
      if (n >= s + 2)
        told_beforehand = std::max(told_beforehand, advances / static_cast<double>(revolve_advances(n, s)));
    }
    EXPECT_NEAR(told_at_the_end, row.told_at_the_end, 1e-3) << s << " snapshots";
    EXPECT_NEAR(told_beforehand, row.told_beforehand, 1e-3) << s << " snapshots";
  }
}

TEST(OnlineSchedule, EndsWhereverItIsTold) {
  // The end is reported before any action, or just after a snapshot of the last state was taken.
  OnlineSchedule none(2);
  none.finish(0);
  EXPECT_EQ(none.next().kind, Action::Kind::done);

  using Kind = Action::Kind;
  OnlineSchedule schedule(2);
  EXPECT_EQ(schedule.next(), (Action{Kind::store, 0, 0}));
  EXPECT_EQ(schedule.next(), (Action{Kind::advance, 0, 1}));
  EXPECT_EQ(schedule.next(), (Action{Kind::store, 1, 0}));
  schedule.finish(1);
  EXPECT_EQ(schedule.next(), (Action{Kind::discard, 1, 0}));
  EXPECT_EQ(schedule.next(), (Action{Kind::restore, 0, 0}));
  EXPECT_EQ(schedule.next(), (Action{Kind::discard, 0, 0}));
  EXPECT_EQ(schedule.next(), (Action{Kind::record, 0, 1}));
  EXPECT_EQ(schedule.next(), (Action{Kind::reverse, 0, 1}));
  EXPECT_EQ(schedule.next().kind, Kind::done);
}

TEST(OnlineSchedule, RefusesAnEndThatIsNotPresent) {
  EXPECT_THROW(OnlineSchedule(0), Error);
  OnlineSchedule schedule(2);
  EXPECT_THROW(schedule.finish(1), Error);
  schedule.finish(0);
  EXPECT_THROW(schedule.finish(0), Error);
}

}  // namespace
}  // namespace diffsim::online_schedule_test
