// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/pack.hpp"
#include "max_or_nan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace diffsim::pack_test {
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
    worst = max_or_nan(worst, static_cast<double>(std::abs(value - exact)) / unit);
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
    worst = max_or_nan(worst, static_cast<double>(std::abs(value - exact)) / unit);
  }
  EXPECT_LE(worst, 2.0);
}

TEST(pack, square_root_is_that_of_each_lane) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-300.0, 300.0);
  for (int i = 0; i < 1000; ++i) {
    Pack x;
    for (int l = 0; l < pack_width; ++l) set_lane(x, l, std::pow(10.0, exponent(random)));
    const Pack root = sqrt(x);
    for (int l = 0; l < pack_width; ++l) EXPECT_EQ(lane(root, l), std::sqrt(lane(x, l)));
  }
  EXPECT_EQ(lane(sqrt(filled(0.0)), 0), 0.0);
  EXPECT_TRUE(std::isnan(lane(sqrt(filled(-1.0)), pack_width - 1)));
}

TEST(pack, angle_is_within_four_units_in_the_last_place) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-20.0, 20.0), angle(-3.2, 3.2);
  double worst = 0.0;
  for (int i = 0; i < 200000; ++i) {
    // Random angles, and angles near multiples of π/16, where the formula changes.
    const double size = std::pow(10.0, exponent(random)), turned = angle(random);
    const double at = i % 2 == 0 ? turned : std::round(turned * 16.0 / 3.141592653589793) * 3.141592653589793 / 16.0;
    const double x = size * std::cos(at), y = size * std::sin(at) * (1.0 + 1e-15 * (i % 5 - 2));
    const long double exact = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    const double value = lane(atan2(filled(y), filled(x)), i % pack_width);
    const double rounded = static_cast<double>(exact), unit = std::abs(std::nextafter(rounded, 10.0) - rounded);
    worst = max_or_nan(worst, static_cast<double>(std::abs(value - exact)) / unit);
  }
  EXPECT_LE(worst, 4.0);
}

TEST(pack, angle_of_special_points) {
  const double pi = 3.14159265358979323846, nan = std::numeric_limits<double>::quiet_NaN();
  const auto of = [](double y, double x) { return lane(atan2(filled(y), filled(x)), 0); };
  EXPECT_EQ(of(0.0, 0.0), 0.0);
  EXPECT_EQ(of(0.0, 2.0), 0.0);
  EXPECT_EQ(of(2.0, 0.0), 0.5 * pi);
  EXPECT_EQ(of(-2.0, 0.0), -0.5 * pi);
  EXPECT_EQ(of(0.0, -2.0), pi);
  EXPECT_EQ(of(3.0, 3.0), 0.25 * pi);
  EXPECT_TRUE(std::isnan(of(nan, 1.0)));
  EXPECT_TRUE(std::isnan(of(1.0, nan)));
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
}  // namespace diffsim::pack_test
