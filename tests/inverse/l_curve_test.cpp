// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "diffsim/inverse/prior.hpp"
#include "error_text.hpp"

namespace diffsim::l_curve_test {
namespace {

/// Returns the corner of the curve through points (ln misfit, ln prior).
std::optional<std::size_t> corner_of(const std::vector<std::pair<double, double>>& points) {
  std::vector<double> misfit, prior;
  for (const auto& [x, y] : points) {
    misfit.push_back(std::exp(x));
    prior.push_back(std::exp(y));
  }
  return l_curve_corner(misfit, prior);
}

// With the misfit 1 + (100 α)² and the prior (1e-3/(1e-3 + α))², the prior decreases from α = 1e-3 on, and the misfit
// increases from α = 1e-2 on.
TEST(l_curve, has_a_corner_between_both_branches) {
  std::vector<double> misfit, prior, factors;
  for (int k = -12; k <= 4; ++k) {
    factors.push_back(std::pow(10.0, 0.5 * k));
    misfit.push_back(1.0 + std::pow(100.0 * factors.back(), 2));
    prior.push_back(std::pow(1e-3 / (1e-3 + factors.back()), 2));
  }
  const std::optional<std::size_t> corner = l_curve_corner(misfit, prior);
  ASSERT_TRUE(corner.has_value());
  EXPECT_NEAR(factors[*corner], 1e-2, 1e-3);
  // Steep, then flat.
  EXPECT_EQ(l_curve_corner({1.0, 1.1, 1.2, 10.0, 100.0}, {1000.0, 100.0, 1.0, 0.9, 0.8}), std::size_t{2});
  // The same with repeated points.
  EXPECT_EQ(l_curve_corner({1.0, 1.0, 1.2, 10.0, 100.0}, {1000.0, 1000.0, 1.0, 0.9, 0.8}), std::size_t{2});
}

// The circle through a point and its two neighbours has the radius 1/√2 at a right angle between sides of length 1, and
// the radius 9/√2 between sides of length 9.
TEST(l_curve, has_the_corner_with_the_smallest_circle) {
  EXPECT_EQ(corner_of({{0, 10}, {0, 9}, {1, 9}, {1, 0}, {10, 0}}), std::size_t{1});
  EXPECT_EQ(corner_of({{0, 10}, {0, 1}, {9, 1}, {9, 0}, {10, 0}}), std::size_t{3});
  // A sharp turn towards smaller misfits, at the second point, is not a corner.
  EXPECT_EQ(corner_of({{0, 10}, {1, 10}, {1, 5}, {6, 5}}), std::size_t{2});
}

// The prior is zero from the second point on. Its logarithm is that of the smallest normal number.
TEST(l_curve, may_reach_a_prior_of_zero) {
  EXPECT_EQ(l_curve_corner({1.0, 1.0, 10.0}, {1.0, 0.0, 0.0}), std::size_t{1});
}

TEST(l_curve, without_a_corner_or_points) {
  EXPECT_FALSE(l_curve_corner({1.0, 10.0, 100.0}, {100.0, 10.0, 1.0}).has_value());
  EXPECT_FALSE(l_curve_corner({1.0, 50.0, 60.0}, {1.0, 0.9, 0.01}).has_value());  // turns the other way
  EXPECT_CONTAINS(error_of([] { l_curve_corner({1.0, 2.0}, {2.0, 1.0}); }), "at least three points");
  EXPECT_CONTAINS(error_of([] { l_curve_corner({1.0, 2.0, 3.0}, {2.0, 1.0}); }), "at least three points");
}

}  // namespace
}  // namespace diffsim::l_curve_test
