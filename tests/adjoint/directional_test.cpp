// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/directional.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/curved_derivatives.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::directional_test {
namespace {

using namespace testing_adjoint;

constexpr int num_steps = 40;  // more than AdjointSweep::steps_of_block
constexpr double d_rate = 0.7;
constexpr std::array<double, 4> d_push{0.3, -0.2, 0.5, 0.1};

void expect_near(const std::vector<double>& found, const std::array<double, 4>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-11 * (1.0 + std::abs(expected[i]))) << i;
}

TEST(joined_state, has_the_fields_of_both_states) {
  State shape;
  shape.add(Field("x", 2));
  shape.add(Field("v", 3));
  JoinedState halves(shape);
  State joined = halves.make_joined();
  const std::vector<std::string> names{"x", "v", "x_tangent", "v_tangent"};
  ASSERT_EQ(joined.fields().size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(joined.fields()[i].name(), names[i]);
  joined["x"].from_host({1, 2});
  joined["v"].from_host({3, 4, 5});
  joined["x_tangent"].from_host({6, 7});
  joined["v_tangent"].from_host({8, 9, 10});
  halves.split(joined);
  EXPECT_EQ(halves.first["x"].to_host(), (std::vector<double>{1, 2}));
  EXPECT_EQ(halves.first["v"].to_host(), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(halves.second["x"].to_host(), (std::vector<double>{6, 7}));
  EXPECT_EQ(halves.second["v"].to_host(), (std::vector<double>{8, 9, 10}));
  halves.second["v"].fill(-1.0);
  halves.join(joined);
  EXPECT_EQ(joined["x"].to_host(), (std::vector<double>{1, 2}));
  EXPECT_EQ(joined["x_tangent"].to_host(), (std::vector<double>{6, 7}));
  EXPECT_EQ(joined["v_tangent"].to_host(), std::vector<double>(3, -1.0));
}

/// Sweep of a DirectionalModel: the derivative of the loss along a direction, the gradient, and the product of the
/// Hessian with the direction.
SweepAlong<DirectionalModel, DirectionalLoss> product(Schedule& schedule) {
  return {schedule, num_steps, d_rate, d_push};
}

TEST(directional_model, computes_the_product_of_the_hessian_and_the_gradient) {
  AllSchedule all(num_steps);
  const auto found = product(all);
  const CurvedDerivatives expected(num_steps, d_rate, d_push);
  EXPECT_NEAR(found.tangent, expected.tangent, 1e-11 * (1.0 + std::abs(expected.tangent)));
  EXPECT_NEAR(found.by_rate.at(0), expected.by_rate, 1e-11 * (1.0 + std::abs(expected.by_rate)));
  EXPECT_NEAR(found.rate.at(0), expected.hessian_rate, 1e-11 * (1.0 + std::abs(expected.hessian_rate)));
  expect_near(found.by_push, expected.by_push);
  expect_near(found.push, expected.hessian_push);
  // The curvature of the model contributes to the product.
  EXPECT_GT(std::abs(expected.hessian_rate - expected.gauss_newton_rate), 1e-3 * std::abs(expected.hessian_rate));
}

TEST(directional_model, does_not_depend_on_the_schedule) {
  AllSchedule all(num_steps);
  UniformSchedule uniform(num_steps, 6);
  const auto one = product(all), other = product(uniform);
  EXPECT_EQ(one.tangent, other.tangent);
  EXPECT_EQ(one.rate, other.rate);
  EXPECT_EQ(one.push, other.push);
  EXPECT_EQ(one.by_rate, other.by_rate);
  EXPECT_EQ(one.by_push, other.by_push);
}

TEST(directional_model, has_no_third_derivatives) {
  // A record contains the state x, and dx before and after the step.
  expect_no_further_derivatives<DirectionalModel, DirectionalLoss>(num_steps, 3);
}

}  // namespace
}  // namespace diffsim::directional_test
