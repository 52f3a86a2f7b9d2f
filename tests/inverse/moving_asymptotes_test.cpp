// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Method of moving asymptotes on analytic problems, with the unknowns distributed over the ranks.

#include "inverse/moving_asymptotes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "diffsim/core/runtime.hpp"

namespace diffsim::moving_asymptotes_test {
namespace {

using inverse::Linearisation;
using inverse::MovingAsymptotes;
using Numbers = std::vector<double>;

double sum_over_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

/// This rank's part of `all`: entry j belongs to rank j modulo the number of ranks.
Numbers part_of(const Numbers& all) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Numbers part;
  for (std::size_t j = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD)); j < all.size();
       j += static_cast<std::size_t>(size))
    part.push_back(all[j]);
  return part;
}

/// Iterates from x, and returns the result.
Numbers iterate(MovingAsymptotes& method, const Numbers& x, int iterations,
                const std::function<Linearisation(const Numbers&)>& evaluate) {
  Linearisation at = evaluate(x);
  for (int k = 0; k < iterations; ++k) {
    method.begin(at);
    do at = evaluate(method.trial());
    while (!method.accepts(at.values));
  }
  return at.x;
}

// Svanberg 1987, section 4: a cantilever of five beams with minimal weight 0.0624 Σ x_j, and the bound Σ c_j/x_j³ ≤ 1
// of the deflection. At the minimum the slopes 0.0624 and 3 λ c_j/x_j⁴ are equal, so x_j = a c_j^¼ with a³ = Σ c_j^¼;
// the minimal weight is 1.340.
TEST(moving_asymptotes, finds_the_cantilever_of_least_weight) {
  const Numbers all{61.0, 37.0, 19.0, 7.0, 1.0}, c = part_of(all);
  double a = 0.0;
  for (const double one : all) a += std::pow(one, 0.25);
  a = std::cbrt(a);
  MovingAsymptotes method(MPI_COMM_WORLD, Numbers(c.size(), 1.0), Numbers(c.size(), 10.0), 1.0);
  const auto evaluate = [&](const Numbers& x) {
    double weight = 0.0, deflection = 0.0;
    Numbers slope;
    for (std::size_t j = 0; j < x.size(); ++j) {
      weight += 0.0624 * x[j];
      deflection += c[j] / std::pow(x[j], 3);
      slope.push_back(-3.0 * c[j] / std::pow(x[j], 4));
    }
    return Linearisation{
        x, {sum_over_ranks(weight), sum_over_ranks(deflection) - 1.0}, {Numbers(x.size(), 0.0624), slope}};
  };
  const Numbers x = iterate(method, Numbers(c.size(), 5.0), 30, evaluate);
  double weight = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    EXPECT_NEAR(x[j], a * std::pow(c[j], 0.25), 1e-6);
    weight += 0.0624 * x[j];
  }
  EXPECT_NEAR(sum_over_ranks(weight), 1.340, 1e-3);
  // 0.0624 = 3 λ c_j/x_j⁴ = 3 λ/a⁴.
  ASSERT_EQ(method.multipliers().size(), 1u);
  EXPECT_NEAR(method.multipliers()[0], 0.0624 * std::pow(a, 4) / 3.0, 1e-5);
}

// Minimum of Σ (x_j - t_j)² subject to Σ x_j ≤ 1 and x_0 ≥ 0.9: t shifted by a constant, except x_0 and entries at the
// lower bound.
TEST(moving_asymptotes, finds_a_projection_with_two_inequalities_and_active_bounds) {
  const Numbers t{0.3, 0.8, 0.5, -0.2, 0.4, 0.6}, own = part_of(t);
  const bool first = rank_of(MPI_COMM_WORLD) == 0;
  MovingAsymptotes method(MPI_COMM_WORLD, Numbers(own.size(), 0.0), Numbers(own.size(), 1.0), 0.5);
  const auto evaluate = [&](const Numbers& x) {
    const Numbers zero(x.size(), 0.0), one(x.size(), 1.0);
    Linearisation at{x, {0.0, 0.0, 0.0}, {zero, one, zero}};
    for (std::size_t j = 0; j < x.size(); ++j) {
      at.values[0] += (x[j] - own[j]) * (x[j] - own[j]);
      at.gradients[0][j] = 2.0 * (x[j] - own[j]);
      at.values[1] += x[j];
    }
    if (first) {
      at.values[2] = -x[0];
      at.gradients[2][0] = -1.0;
    }
    for (double& value : at.values) value = sum_over_ranks(value);
    at.values[1] -= 1.0;
    at.values[2] += 0.9;
    return at;
  };
  const Numbers x = iterate(method, Numbers(own.size(), 0.5), 80, evaluate);
  // With x_0 = 0.9, the others have the sum 0.1. All but x_1 = 0.1 are at the lower bound.
  const Numbers expected = part_of({0.9, 0.1, 0.0, 0.0, 0.0, 0.0});
  for (std::size_t j = 0; j < x.size(); ++j) EXPECT_NEAR(x[j], expected[j], 1e-6) << j;
  // 2 (x_1 - t_1) + λ_0 = 0, and 2 (x_0 - t_0) + λ_0 - λ_1 = 0.
  EXPECT_NEAR(method.multipliers()[0], 1.4, 1e-4);
  EXPECT_NEAR(method.multipliers()[1], 2.6, 1e-4);
}

TEST(moving_asymptotes, respects_move_limits_and_needs_no_inequality) {
  const Numbers own = part_of({0.9, 0.9, 0.1});
  MovingAsymptotes method(MPI_COMM_WORLD, Numbers(own.size(), 0.0), Numbers(own.size(), 1.0), 0.1);
  Linearisation at;
  const auto move_to = [&](const Numbers& x) {
    at = {x, {0.0}, {Numbers(x.size())}};
    for (std::size_t j = 0; j < x.size(); ++j) {
      at.values[0] += 0.5 * (x[j] - own[j]) * (x[j] - own[j]);
      at.gradients[0][j] = x[j] - own[j];
    }
    at.values[0] = sum_over_ranks(at.values[0]);
  };
  move_to(Numbers(own.size(), 0.5));
  for (int k = 0; k < 60; ++k) {
    const Linearisation before = at;
    method.begin(at);
    do move_to(method.trial());
    while (!method.accepts(at.values));
    EXPECT_LE(at.values[0], before.values[0] + 1e-10);  // the loss cannot increase
    for (std::size_t j = 0; j < own.size(); ++j) EXPECT_LE(std::abs(at.x[j] - before.x[j]), 0.1 + 1e-15);
  }
  EXPECT_TRUE(method.multipliers().empty());
  for (std::size_t j = 0; j < own.size(); ++j) EXPECT_NEAR(at.x[j], own[j], 1e-4);
}

// A trial point at which the functions do not exist is followed by trial points closer to the current point.
TEST(moving_asymptotes, shortens_steps) {
  const Numbers own = part_of({0.0, 0.0, 0.0});
  MovingAsymptotes method(MPI_COMM_WORLD, Numbers(own.size(), 0.0), Numbers(own.size(), 1.0), 1.0);
  method.begin({Numbers(own.size(), 0.2), {0.0}, {Numbers(own.size(), -1.0)}});
  Numbers last(own.size(), 1.0);
  for (int k = 0; k < 5; ++k) {
    const Numbers x = method.trial();
    for (std::size_t j = 0; j < x.size(); ++j) {
      EXPECT_GT(x[j], 0.2);
      EXPECT_LT(x[j], last[j]);
    }
    last = x;
    method.shorten();
  }
  for (const double one : last) EXPECT_LT(one, 0.201);
}

// If the inequalities contradict each other, the method minimises the sum of the violations, which is 1 wherever the
// sum of x is between 0.5 and 1.5, and larger elsewhere.
TEST(moving_asymptotes, survives_inequalities_that_cannot_be_satisfied) {
  const Numbers own = part_of({0.0, 0.0});
  MovingAsymptotes method(MPI_COMM_WORLD, Numbers(own.size(), 0.0), Numbers(own.size(), 1.0), 0.5);
  const auto evaluate = [&](const Numbers& x) {
    double sum = 0.0;
    for (const double one : x) sum += one;
    sum = sum_over_ranks(sum);
    return Linearisation{
        x, {0.0, sum - 0.5, 1.5 - sum}, {Numbers(x.size(), 0.0), Numbers(x.size(), 1.0), Numbers(x.size(), -1.0)}};
  };
  const Numbers x = iterate(method, Numbers(own.size(), 0.2), 40, evaluate);
  double sum = 0.0;
  for (const double one : x) sum += one;
  EXPECT_NEAR(sum_over_ranks(sum), 1.0, 0.501);
}

}  // namespace
}  // namespace diffsim::moving_asymptotes_test
