// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Slopes by differences: their error bounds hold and are tight for functions with noise, kinks or jumps.

#include "inverse/slope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

namespace diffsim::slope_test {
namespace {

using namespace inverse;

/// Returns f plus normal noise with standard deviation `size`, different at each call.
Line noisy(Line f, double size) {
  auto random = std::make_shared<std::mt19937>(7);
  return [=](double x) { return f(x) + size * std::normal_distribution<double>()(*random); };
}

TEST(slope, noise_is_measured_to_its_order) {
  const Line f = [](double x) { return 2.0 + std::sin(3.0 * x); };
  for (const double size : {1e-4, 1e-8, 1e-12}) {
    const double measured = measure_noise(noisy(f, size), 2.0);
    EXPECT_GT(measured, 0.3 * size);
    EXPECT_LT(measured, 3.0 * size);
  }
  EXPECT_LT(measure_noise(f, f(0.0)), 4e-16);
  EXPECT_GT(measure_noise(f, f(0.0)), 1e-16);
  EXPECT_EQ(measure_noise([](double) { return 2.0; }, 2.0), 0x1p-52);
  EXPECT_EQ(measure_noise([](double) { return 0.0; }, 0.0), 0.0);
}

TEST(slope, noise_is_told_from_a_steep_and_curved_function) {
  const Line f = [](double x) { return 1.0 + std::sin(1e8 * x); };
  const double measured = measure_noise(noisy(f, 1e-7), 1.0);
  EXPECT_GT(measured, 0.3e-7);
  EXPECT_LT(measured, 3e-7);
}

struct Known {
  Line f;
  double slope;
};

const Known smooth[] = {
    {[](double x) { return std::exp(2.0 * x); }, 2.0},
    {[](double x) { return 1.0 / (1.0 + 3.0 * x); }, -3.0},
    {[](double x) { return 5.0 + 1e-3 * std::sin(40.0 * x); }, 0.04},  // varies on scales below the first step
    {[](double x) { return x + 1e-4 * std::tanh(1e4 * x); }, 2.0},     // varies on scales far below the first step
    {[](double x) { return x < 0.013 ? std::cos(x + 1.0) : -1.0; }, -std::sin(1.0)},  // a jump
    {[](double x) { return 1.0 + x + std::pow(std::max(0.0, x - 1e-3), 2); }, 1.0},   // a kink of the slope near 0
    {[](double x) { return std::abs(x) > 0.01 ? std::nan("") : std::sin(2.0 * x); }, 2.0},  // not defined far from 0
};

TEST(slope, agreement_of_large_steps_by_chance_is_contradicted_by_smaller_ones) {
  // Differences over 1/128 and more are those of a line with another slope.
  const Line f = [](double x) {
    const double t = std::clamp(256.0 * std::abs(x) - 1.0, 0.0, 1.0);
    return 1.0 + x * (1.0 + 1e-6 * t * t * (3.0 - 2.0 * t));
  };
  const Slope measured = measure_slope(f, 1e-16, 1.0);
  EXPECT_LE(std::abs(measured.value - 1.0), measured.error);
  EXPECT_LE(measured.error, 1e-10);
}

TEST(slope, of_smooth_functions_comes_to_many_digits) {
  for (const Known& known : smooth) {
    SCOPED_TRACE(&known - smooth);
    const double noise = measure_noise(known.f, known.f(0.0));
    const Slope measured = measure_slope(known.f, noise, known.slope);
    EXPECT_LE(measured.error, 1e-8 * std::abs(known.slope));
    EXPECT_LE(std::abs(measured.value - known.slope), measured.error);
  }
}

TEST(slope, does_not_lean_to_what_is_expected) {
  for (const Known& known : smooth) {
    SCOPED_TRACE(&known - smooth);
    const double noise = measure_noise(known.f, known.f(0.0));
    for (const double wrong : {1.00001, 0.999, 2.0, -1.0}) {
      const Slope measured = measure_slope(known.f, noise, wrong * known.slope);
      EXPECT_LE(std::abs(measured.value - known.slope), 10.0 * measured.error);
      EXPECT_GT(std::abs(measured.value - wrong * known.slope), 10.0 * measured.error);
    }
  }
}

TEST(slope, errors_are_bounded_under_noise) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(0.5, 2.0);
  int within = 0, close = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    const double a = number(random), b = number(random), size = std::pow(10.0, -6.0 - 3.0 * number(random));
    auto seeded = std::make_shared<std::mt19937>(static_cast<unsigned>(trial));
    const Line f = [=](double x) {
      return std::exp(a * x) + std::sin(b * x) + size * std::normal_distribution<double>()(*seeded);
    };
    const Slope measured = measure_slope(f, measure_noise(f, f(0.0)), a + b);
    EXPECT_LE(std::abs(measured.value - (a + b)), 10.0 * measured.error) << trial;
    within += std::abs(measured.value - (a + b)) <= measured.error;
    close += measured.error <= 3000.0 * size;  // three noise sizes over a step of 1/32 give about 100
  }
  EXPECT_GE(within, 9 * trials / 10);
  EXPECT_EQ(close, trials);
}

TEST(slope, of_stairs_is_no_better_known_than_they_are_high) {
  const Line stairs = [](double x) { return 1e-4 * std::round((1.0 + std::sin(x)) / 1e-4); };
  const Slope measured = measure_slope(stairs, measure_noise(stairs, 1.0), 1.0);
  EXPECT_GT(measured.error, 1e-4);
  EXPECT_LE(std::abs(measured.value - 1.0), 10.0 * measured.error);
}

TEST(slope, of_what_has_no_values_is_not_known) {
  const Slope measured = measure_slope([](double x) { return x > 0.0 ? std::nan("") : x; }, 1e-16, 1.0);
  EXPECT_TRUE(std::isinf(measured.error));
  EXPECT_TRUE(measured.pairs.empty());
}

TEST(slope, remainders_show_their_order) {
  const Line f = [](double x) { return std::exp(x); };
  const Slope measured = measure_slope(f, 1e-16, 1.0);
  const RemainderOrders second = remainder_orders(measured.pairs, {1.0, 1.0, 0.0}, 1e-16, 2.0, 4);
  ASSERT_EQ(second.orders.size(), 4u);
  for (const double order : second.orders) EXPECT_NEAR(order, 2.0, 0.02);
  const RemainderOrders third = remainder_orders(measured.pairs, {1.0, 1.0, 1.0}, 1e-16, 3.0, 3);
  ASSERT_EQ(third.orders.size(), 3u);
  for (const double order : third.orders) EXPECT_NEAR(order, 3.0, 0.02);
  double furthest = 0.0;
  for (const double order : remainder_orders(measured.pairs, {1.0, 1.001, 0.0}, 1e-16, 2.0, 4).orders)
    furthest = std::max(furthest, std::abs(order - 2.0));
  EXPECT_GT(furthest, 0.1);
  EXPECT_TRUE(remainder_orders({{0.1, 1.2, 0.8}, {0.05, 1.1, 0.9}}, {1.0, 2.0, 0.0}, 1e-16, 2.0, 1).exact);
}

}  // namespace
}  // namespace diffsim::slope_test
