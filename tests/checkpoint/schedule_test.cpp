// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/schedule.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/online_schedule.hpp"
#include "checkpoint/reversible_schedule.hpp"
#include "checkpoint/revolve_schedule.hpp"
#include "checkpoint/schedule_checker.hpp"
#include "checkpoint/truncated_schedule.hpp"
#include "checkpoint/two_level_schedule.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::schedule_test {
namespace {

TEST(AllSchedule, RepeatsNothing) {
  for (const int n : {0, 1, 2, 17}) {
    AllSchedule schedule(n);
    const testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse(schedule, n, {}, n);
    EXPECT_EQ(result.fault, "") << n;
    EXPECT_EQ(result.advances, 0);
    EXPECT_EQ(result.records, n);
  }
}

TEST(UniformSchedule, RepeatsEveryStepButTheLastSegmentOnce) {
  for (int every = 1; every <= 20; ++every) {
    for (int n = 1; n <= 60; ++n) {
      const int segments = (n + every - 1) / every;
      UniformSchedule schedule(n, every);
      const testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse(schedule, n, {segments - 1}, every);
      ASSERT_EQ(result.fault, "") << n << " steps, every " << every;
      ASSERT_EQ(result.advances, (segments - 1L) * every);
      ASSERT_EQ(result.records, n);
    }
  }
}

TEST(ReversibleSchedule, StoresNothingAndTakesEveryStepTwice) {
  for (const int n : {0, 1, 2, 17}) {
    ReversibleSchedule schedule(n);
    const testing_checkpoint::Rehearsal result = testing_checkpoint::rehearse(schedule, n, {}, 1);
    EXPECT_EQ(result.fault, "") << n;
    EXPECT_EQ(result.advances, n);
    EXPECT_EQ(result.records, n);
    EXPECT_EQ(result.stores.size(), 0U);
  }
}

TEST(TruncatedSchedule, ReversesTheLastStepsAsAnotherScheduleSays) {
  for (const int skipped : {0, 1, 9})
    for (const int last : {1, 2, 13}) {
      const auto expect = [&](std::unique_ptr<Schedule> inner, long advances, const std::vector<int>& room,
                              int records) {
        TruncatedSchedule schedule(skipped, std::move(inner));
        const testing_checkpoint::Rehearsal result =
            testing_checkpoint::rehearse(schedule, skipped + last, room, records);
        EXPECT_EQ(result.fault, "") << schedule.name() << ", " << last << " after " << skipped;
        EXPECT_EQ(result.advances, skipped + advances) << schedule.name() << ", " << last << " after " << skipped;
        EXPECT_EQ(result.records, last);
      };
      expect(std::make_unique<AllSchedule>(last), 0, {}, last);
      expect(std::make_unique<RevolveSchedule>(last, 2), revolve_advances(last, 2), {2}, 1);
      expect(std::make_unique<TwoLevelSchedule>(last, 20, 2), revolve_advances(last, 2), {2, 1}, 1);
      expect(std::make_unique<ReversibleSchedule>(last), last, {}, 1);
    }
  EXPECT_THROW(TruncatedSchedule(3, std::make_unique<OnlineSchedule>(2)), Error);
}

TEST(Schedule, OfKnownLengthRefusesAnother) {
  AllSchedule all(3);
  UniformSchedule uniform(3, 2);
  EXPECT_THROW(all.finish(2), Error);
  EXPECT_THROW(uniform.finish(3), Error);
}

// Schedule with given actions, to test the checker: it must refuse a schedule from which any action is left out.
class Script : public Schedule {
 public:
  explicit Script(std::vector<Action> actions) : actions_(std::move(actions)) {}
  std::string name() const override { return "script"; }
  Action next() override { return at_ < actions_.size() ? actions_[at_++] : Action{}; }

 private:
  std::vector<Action> actions_;
  std::size_t at_ = 0;
};

TEST(ScheduleChecker, RefusesScheduleWithAnActionLeftOut) {
  UniformSchedule uniform(5, 2);
  std::vector<Action> actions;
  for (Action action = uniform.next(); action.kind != Action::Kind::done; action = uniform.next())
    actions.push_back(action);
  ASSERT_GT(actions.size(), 8U);
  Script whole(actions);
  EXPECT_EQ(testing_checkpoint::rehearse(whole, 5, {2}, 2).fault, "");
  for (std::size_t k = 0; k < actions.size(); ++k) {
    std::vector<Action> fewer = actions;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    Script script(fewer);
    EXPECT_NE(testing_checkpoint::rehearse(script, 5, {2}, 2).fault, "") << "without action " << k;
  }
}

TEST(ScheduleChecker, RefusesMoreThanThereIsRoomFor) {
  UniformSchedule snapshots(5, 2);
  EXPECT_NE(testing_checkpoint::rehearse(snapshots, 5, {1}, 2).fault, "");
  UniformSchedule records(5, 2);
  EXPECT_NE(testing_checkpoint::rehearse(records, 5, {2}, 1).fault, "");
}

}  // namespace
}  // namespace diffsim::schedule_test
