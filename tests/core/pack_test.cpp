// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace diffsim {
namespace {

Pack filled(double x) { return Pack(x); }

TEST(pack, logarithm_is_within_two_units_in_the_last_place) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-300.0, 300.0), near_one(0.5, 2.0), offset(-1e-7, 1e-7);
  double worst = 0.0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 3 == 0   ? std::pow(10.0, exponent(random))
                     : i % 3 == 1 ? near_one(random)
                                  : 1.0 + offset(random);
    const long double exact = std::log(static_cast<long double>(x));
    const double value = lane(log(filled(x)), i % pack_width);
    const double unit = std::abs(std::nextafter(static_cast<double>(exact), 1e300) - static_cast<double>(exact));
    worst = std::max(worst, static_cast<double>(std::abs(value - exact)) / unit);
  }
  EXPECT_LE(worst, 2.0);
}

TEST(pack, logarithm_of_special_values) {
  EXPECT_EQ(lane(log(filled(1.0)), 0), 0.0);
  EXPECT_EQ(lane(log(filled(0.0)), 0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(lane(log(filled(std::numeric_limits<double>::infinity())), 0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(lane(log(filled(-1.0)), 0)));
  EXPECT_TRUE(std::isnan(lane(log(filled(std::numeric_limits<double>::quiet_NaN())), 0)));
}

TEST(pack, cube_root_is_within_two_units_in_the_last_place) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-290.0, 290.0), near_one(0.5, 2.0);
  double worst = 0.0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? std::pow(10.0, exponent(random)) : near_one(random);
    const long double exact = std::cbrt(static_cast<long double>(x));
    const double value = lane(cbrt(filled(x)), i % pack_width);
    const double unit = std::nextafter(static_cast<double>(exact), 1e300) - static_cast<double>(exact);
    worst = std::max(worst, static_cast<double>(std::abs(value - exact)) / unit);
  }
  EXPECT_LE(worst, 2.0);
}

TEST(pack, any_not_greater_sees_each_lane_and_nan) {
  EXPECT_FALSE(any_not_greater(filled(1.0), 0.0));
  EXPECT_TRUE(any_not_greater(filled(0.0), 0.0));
  for (int i = 0; i < pack_width; ++i) {
    Pack x = filled(1.0);
    set_lane(x, i, -1.0);
    EXPECT_TRUE(any_not_greater(x, 0.0));
    set_lane(x, i, std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(any_not_greater(x, 0.0));
  }
}

}  // namespace
}  // namespace diffsim
