// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/forecast.hpp"

#include <gtest/gtest.h>

#include "checkpoint/online_schedule.hpp"
#include "checkpoint/revolve_schedule.hpp"
#include "checkpoint/schedule.hpp"

namespace diffsim::forecast_test {
namespace {

TEST(Forecast, CountsWhatIsLeft) {
  UniformSchedule uniform(10, 4);  // steps 0-4 and 4-8 are advanced; 8-10, 4-8 and 0-4 are recorded
  const SweepForecast result = forecast(uniform, 10);
  EXPECT_EQ(result.num_steps, 10);
  EXPECT_EQ(result.steps, 18);
  EXPECT_EQ(result.left, (std::vector<long>{0, 0, 0, 0, 4, 4, 4, 4, 8, 8}));
}

TEST(Forecast, FollowsEverySchedule) {
  RevolveSchedule revolve(100, 5);
  EXPECT_EQ(forecast(revolve, 100).steps, revolve_advances(100, 5) + 100);
  OnlineSchedule online(5);
  const SweepForecast result = forecast(online, 100);
  EXPECT_GE(result.steps, revolve_advances(101, 5) + 100 - 1);
  EXPECT_EQ(result.left.front(), 0);
  EXPECT_GT(result.left.back(), 0);
  AllSchedule none(0);
  EXPECT_EQ(forecast(none, 0).steps, 0);
}

}  // namespace
}  // namespace diffsim::forecast_test
