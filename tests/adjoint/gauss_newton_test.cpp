// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/gauss_newton.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/curved_derivatives.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::gauss_newton_test {
namespace {

using namespace testing_adjoint;

constexpr int num_steps = 40;  // more than AdjointSweep::steps_of_block

using Product = SweepAlong<GaussNewtonModel, GaussNewtonLoss>;

// Each column of J along its direction, and a direction of all parameters.
TEST(gauss_newton_model, computes_the_product_of_the_jacobian_with_its_transpose) {
  struct Direction {
    double rate;
    std::array<double, 4> push;
  };
  const Direction directions[] = {
      {1.0, {}}, {0.0, {1.0, 0.0, 0.0, 0.0}}, {0.0, {0.0, 0.0, 0.0, 1.0}}, {0.7, {0.3, -0.2, 0.5, 0.1}}};
  for (const Direction& d : directions) {
    AllSchedule all(num_steps);
    const Product found(all, num_steps, d.rate, d.push);
    const CurvedDerivatives expected(num_steps, d.rate, d.push);
    EXPECT_NEAR(found.tangent, expected.tangent, 1e-11 * (1.0 + std::abs(expected.tangent)));
    EXPECT_NEAR(found.rate.at(0), expected.gauss_newton_rate, 1e-11 * (1.0 + std::abs(expected.gauss_newton_rate)));
    ASSERT_EQ(found.push.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(found.push[i], expected.gauss_newton_push[i], 1e-11 * (1.0 + std::abs(expected.gauss_newton_push[i])))
          << i;
    // The second half of the adjoint is not used.
    EXPECT_EQ(found.adjoint_tangent, std::vector<double>(4, 0.0));
    double square = found.rate.at(0) * d.rate, local = 0.0;
    for (std::size_t i = 0; i < 4; ++i) local += found.push[i] * d.push[i];
    square += sum_over_ranks(local, MPI_COMM_WORLD);
    EXPECT_GT(square, 0.0);
    EXPECT_GT(std::abs(expected.hessian_rate - expected.gauss_newton_rate), 1e-6);
  }
}

TEST(gauss_newton_model, does_not_depend_on_the_schedule) {
  AllSchedule all(num_steps);
  UniformSchedule uniform(num_steps, 6);
  const std::array<double, 4> d_push{0.3, -0.2, 0.5, 0.1};
  const Product one(all, num_steps, 0.7, d_push), other(uniform, num_steps, 0.7, d_push);
  EXPECT_EQ(one.tangent, other.tangent);
  EXPECT_EQ(one.rate, other.rate);
  EXPECT_EQ(one.push, other.push);
}

TEST(gauss_newton_model, has_no_derivative) {
  // A record contains x and dx.
  expect_no_further_derivatives<GaussNewtonModel, GaussNewtonLoss>(num_steps, 2);
}

// A loss that is not a sum of squares has no Gauss–Newton matrix.
TEST(gauss_newton_model, needs_residuals) {
  CurvedPoints points;
  EndLoss no_squares(num_steps);
  const ParameterSet direction = points.parameters().zero_like({"rate"});
  GaussNewtonModel model(points, direction);
  GaussNewtonLoss loss(no_squares, model);
  State state = model.make_state(), adjoint = state.zero_like();
  ParameterSet gradient = direction.zero_like({"rate"});
  EXPECT_THROW(loss.add_gradient(num_steps, state, points.parameters(), adjoint, gradient), Error);
}

}  // namespace
}  // namespace diffsim::gauss_newton_test
