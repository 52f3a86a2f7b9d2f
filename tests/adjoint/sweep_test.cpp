// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

#include "diffsim/adjoint/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/moving_points.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::sweep_test {
namespace {

using testing_adjoint::EndLoss;
using testing_adjoint::MovingPoints;

State initial_state(const Model& model) {
  State state = model.make_state();
  state["positions"].from_host({0.1, 0.7, -0.4, 1.1});
  return state;
}

TEST(sweep, parts_of_a_rollout_add_up_to_the_whole) {
  MovingPoints model({});
  EndLoss loss(9);
  State whole = initial_state(model), parts = whole.clone();
  const double expected = rollout(model, whole, 9, &loss);
  EXPECT_GT(expected, 0.0);
  std::vector<int> seen;
  const StateObserver observe = [&](int n, const State&) { seen.push_back(n); };
  EXPECT_EQ(rollout(model, parts, StepRange{0, 4}, &loss, observe), 0.0);
  EXPECT_EQ(rollout(model, parts, StepRange{4, 9}, &loss, observe), expected);
  EXPECT_EQ(parts["positions"].to_host(), whole["positions"].to_host());
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9}));
}

TEST(sweep, the_tangent_of_the_loss_is_the_gradient_along_the_direction) {
  MovingPoints model({});
  EndLoss loss(9);
  ParameterSet direction = model.parameters().zero_like({"rate", "push"}),
               gradient = direction.zero_like({"rate", "push"});
  State state = initial_state(model), tangent = state.zero_like(), adjoint = state.zero_like();
  MemoryStore store;
  AllSchedule all(9);
  AdjointSweep sweep(model, loss, all, store);
  sweep.forward(state, gradient);
  const std::vector<double> end = state["positions"].to_host();
  sweep.backward(adjoint);
  // Each input by itself: rate, push, positions.
  for (int input = 0; input < 3; ++input) {
    direction.fill(0.0);
    tangent.fill(0.0);
    if (input == 0) direction.at("rate").field.fill(0.7);
    if (input == 1) direction.at("push").field.from_host({0.3, -0.2, 0.5, 0.1});
    if (input == 2) tangent["positions"].from_host({-0.4, 0.2, 0.6, 0.3});
    double by_gradient = local_dot(adjoint, tangent);
    by_gradient += local_dot(gradient.at("push").field, direction.at("push").field);
    by_gradient = sum_over_ranks(by_gradient, model.comm());
    by_gradient += gradient.at("rate").field.to_host()[0] * direction.at("rate").field.to_host()[0];
    State at = initial_state(model), change = tangent.clone();
    const double by_tangent = rollout_tangent(model, at, change, direction, 9, &loss);
    EXPECT_EQ(at["positions"].to_host(), end);
    EXPECT_GT(std::abs(by_tangent), 1e-3) << input;
    EXPECT_NEAR(by_tangent, by_gradient, 1e-13 * std::abs(by_tangent)) << input;
  }
}

}  // namespace
}  // namespace diffsim::sweep_test
