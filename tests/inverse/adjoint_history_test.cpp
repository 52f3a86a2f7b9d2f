// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Norms of the adjoint in reverse sweeps: the largest growth of several sweeps, and adjoints that vanish.
#include "inverse/adjoint_history.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace diffsim::adjoint_history_test {
namespace {

/// Adjoint of a state of one number q, with the rate v, and optionally with a further field.
State adjoint(double q, double v, std::optional<double> origin = {}) {
  State state;
  state.add(Field("positions", 1)).fill(q);
  state.add(Field("velocities", 1)).fill(v);
  if (origin) state.add(Field("origin:foot", 1)).fill(*origin);
  return state;
}

/// Records a reverse sweep of a loss that depends on the last state only. `values`: adjoints of the states, from the
/// last to the state `end`.
void sweep(AdjointHistory& history, const std::vector<State>& values, int end = 0) {
  const int last = end + static_cast<int>(values.size()) - 1;
  for (int n = last; n >= end; --n) {
    if (n == last) history.observe(n, values.front().zero_like(), false);
    history.observe(n, values[static_cast<std::size_t>(last - n)], true);
  }
}

std::vector<State> powers(double factor, int steps) {
  std::vector<State> states;
  for (int i = 0; i <= steps; ++i) states.push_back(adjoint(std::pow(factor, i), 2.0 * std::pow(factor, i)));
  return states;
}

TEST(AdjointHistory, returns_the_largest_growth_of_all_sweeps_since_the_last_call) {
  AdjointHistory history(MPI_COMM_SELF);
  sweep(history, powers(2.0, 3));
  sweep(history, powers(10.0, 5));
  sweep(history, powers(3.0, 4));
  EXPECT_NEAR(history.growth().factor, 81.0, 1e-9);
  const AdjointHistory::Growth largest = history.take_largest_growth();
  EXPECT_NEAR(largest.factor, 1e5, 1e-6);
  EXPECT_EQ(largest.from, 5);
  EXPECT_EQ(largest.to, 0);
  EXPECT_EQ(history.take_largest_growth().factor, 1.0);
  sweep(history, powers(3.0, 2));
  EXPECT_NEAR(history.take_largest_growth().factor, 9.0, 1e-9);
  sweep(history, powers(0.5, 2));
  EXPECT_EQ(history.take_largest_growth().factor, 1.0);
  sweep(history, powers(1e200, 2));  // the norm overflows
  EXPECT_EQ(history.take_largest_growth().factor, 1.0);
}

TEST(AdjointHistory, finds_the_state_before_which_the_adjoint_vanishes) {
  AdjointHistory history(MPI_COMM_SELF);
  EXPECT_FALSE(history.vanishes_before(false));
  sweep(history, powers(0.1, 10));
  EXPECT_FALSE(history.vanishes_before(false));
  sweep(history, powers(0.1, 20));  // 1e-16 of the largest norm 16 steps before the last, at step 4
  EXPECT_EQ(history.vanishes_before(false), std::optional<int>(4));
  sweep(history, powers(0.1, 20), 4);  // the sweep ends at step 4
  EXPECT_FALSE(history.vanishes_before(false));
  sweep(history, powers(1.0, 20));
  EXPECT_FALSE(history.vanishes_before(false));
  std::vector<State> zeros;
  for (int i = 0; i < 4; ++i) zeros.push_back(adjoint(0.0, 0.0));
  sweep(history, zeros);
  EXPECT_FALSE(history.vanishes_before(false));
}

TEST(AdjointHistory, does_not_vanish_while_a_field_contributes) {
  AdjointHistory history(MPI_COMM_SELF);
  const auto with = [&](double v, std::optional<double> origin) {
    std::vector<State> states;
    states.push_back(adjoint(1.0, 1.0, origin));
    for (int i = 0; i < 3; ++i) states.push_back(adjoint(0.0, v, origin));
    sweep(history, states);
    return history.vanishes_before(false);
  };
  EXPECT_EQ(with(0.0, {}), std::optional<int>(2));
  EXPECT_EQ(with(0.0, 0.0), std::optional<int>(2));
  EXPECT_FALSE(with(1e-10, {}));
  EXPECT_FALSE(with(0.0, 1e-10));
}

// Fixed vertices keep the adjoint of their positions.
TEST(AdjointHistory, vanishes_beside_fixed_vertices) {
  AdjointHistory history(MPI_COMM_SELF);
  const auto states = [](double first, double velocity) {
    std::vector<State> all;
    all.push_back(adjoint(1.0, 1.0));
    for (int i = 0; i < 3; ++i) all.push_back(adjoint(0.5, velocity));
    all.push_back(adjoint(first, velocity));
    return all;
  };
  sweep(history, states(0.5, 1e-20));
  EXPECT_EQ(history.vanishes_before(true), std::optional<int>(3));
  EXPECT_FALSE(history.vanishes_before(false));
  sweep(history, states(0.5, 1e-10));
  EXPECT_FALSE(history.vanishes_before(true));
  sweep(history, states(0.4, 1e-20));
  EXPECT_FALSE(history.vanishes_before(true));
}

// Contributions of the loss that were not computed may be anywhere.
TEST(AdjointHistory, of_a_loss_of_many_states_is_not_judged) {
  AdjointHistory history(MPI_COMM_SELF);
  for (int n = 80; n >= 0; --n) {
    history.observe(n, adjoint(0.0, 0.0), false);
    history.observe(n, n < 80 ? adjoint(0.0, 0.0) : adjoint(1.0, 1.0), true);
  }
  EXPECT_FALSE(history.vanishes_before(false));
}

// A loss that observes an earlier state adds to an adjoint that had vanished.
TEST(AdjointHistory, does_not_vanish_before_an_observed_state) {
  AdjointHistory history(MPI_COMM_SELF);
  std::vector<State> states = powers(1e-10, 4);
  states[3] = adjoint(0.5, 0.0);
  states[4] = adjoint(0.4, 0.0);
  sweep(history, states);
  EXPECT_FALSE(history.vanishes_before(false));
}

}  // namespace
}  // namespace diffsim::adjoint_history_test
