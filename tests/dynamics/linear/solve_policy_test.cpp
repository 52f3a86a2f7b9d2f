// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/solve_policy.hpp"

#include <gtest/gtest.h>

namespace diffsim::dynamics::solve_policy_test {
namespace {

using Next = SolvePolicy::Next;
using Outcome = SolvePolicy::Outcome;

constexpr Outcome failure{.indefinite_preconditioner = true, .definite = true, .may_be_outdated = true};

TEST(solve_policy, retries_once_and_then_factors_for_the_rest_of_the_time_step) {
  SolvePolicy policy;
  policy.begin_step();
  EXPECT_EQ(policy.record({.converged = true, .definite = true}, 1000), Next::accept);
  EXPECT_FALSE(policy.is_careful());
  EXPECT_EQ(policy.least_bound(), 0.0);
  EXPECT_EQ(policy.record(failure, 1000), Next::retry);
  EXPECT_TRUE(policy.is_careful());
  EXPECT_EQ(policy.least_bound(), 4.0);
  EXPECT_EQ(policy.record({.converged = true, .definite = true}, 1000), Next::accept);
  EXPECT_TRUE(policy.is_careful()) << "later systems of the time step";
  EXPECT_FALSE(policy.factors());
  EXPECT_EQ(policy.record(failure, 1000), Next::factor);
  EXPECT_TRUE(policy.factors());
  EXPECT_EQ(policy.changes_to_factors(), 1);
  policy.begin_step();
  EXPECT_FALSE(policy.is_careful());
  EXPECT_FALSE(policy.factors());
  EXPECT_EQ(policy.changes_to_factors(), 1) << "the number is that of all time steps";
  EXPECT_EQ(policy.record(failure, 1000), Next::retry);
}

TEST(solve_policy, does_not_factor_large_or_indefinite_systems) {
  SolvePolicy policy;
  EXPECT_EQ(policy.record(failure, 300001), Next::retry);
  EXPECT_EQ(policy.record(failure, 300001), Next::accept);
  Outcome indefinite = failure;
  indefinite.definite = false;
  EXPECT_EQ(policy.record(indefinite, 1000), Next::accept);
  EXPECT_FALSE(policy.factors());
  EXPECT_EQ(policy.changes_to_factors(), 0);
  EXPECT_EQ(policy.record(failure, 300000), Next::factor);
}

TEST(solve_policy, a_preconditioner_is_at_fault_if_it_is_indefinite_or_a_definite_matrix_seems_indefinite) {
  EXPECT_TRUE(SolvePolicy::is_at_fault(failure));
  EXPECT_TRUE(SolvePolicy::is_at_fault({.indefinite_preconditioner = true, .may_be_outdated = true}));
  EXPECT_TRUE(SolvePolicy::is_at_fault({.indefinite_matrix = true, .definite = true, .may_be_outdated = true}));
  // Newton's method projects a matrix that is indefinite.
  EXPECT_FALSE(SolvePolicy::is_at_fault({.indefinite_matrix = true, .may_be_outdated = true}));
  // Too many iterations.
  EXPECT_FALSE(SolvePolicy::is_at_fault({.definite = true, .may_be_outdated = true}));
  EXPECT_FALSE(SolvePolicy::is_at_fault({.indefinite_preconditioner = true, .definite = true}));
  EXPECT_FALSE(SolvePolicy::is_at_fault({.converged = true, .definite = true, .may_be_outdated = true}));
  SolvePolicy policy;
  EXPECT_EQ(policy.record({.indefinite_matrix = true, .may_be_outdated = true}, 1000), Next::accept);
  EXPECT_FALSE(policy.is_careful());
}

TEST(solve_policy, products_in_single_precision_need_a_loose_tolerance_and_the_present_matrix) {
  EXPECT_TRUE(may_use_single_products(1e-5, true, true, false));
  EXPECT_FALSE(may_use_single_products(0.99e-5, true, true, false));
  EXPECT_FALSE(may_use_single_products(1e-3, false, true, false));
  EXPECT_FALSE(may_use_single_products(1e-3, true, false, false));
  EXPECT_FALSE(may_use_single_products(1e-3, true, true, true));
}

TEST(solve_policy, smoothers_cover_a_factor_of_eleven_below_the_bound) {
  const SmootherBounds estimated = smoother_bounds(2.0, 0.0), least = smoother_bounds(2.0, 4.0);
  EXPECT_DOUBLE_EQ(estimated.highest, 2.2);
  EXPECT_DOUBLE_EQ(estimated.lowest, 0.2);
  EXPECT_EQ(least.highest, 4.0);
  EXPECT_DOUBLE_EQ(least.lowest, 4.0 / 11.0);
  EXPECT_DOUBLE_EQ(smoother_bounds(5.0, 4.0).highest, 5.5);
}

TEST(solve_policy, small_matrices_are_copied_and_factored_without_pivoting) {
  const auto expect = [](const FactorChoice& choice, bool copies, bool without_pivoting) {
    EXPECT_EQ(choice.copies, copies);
    EXPECT_EQ(choice.without_pivoting, without_pivoting);
  };
  expect(choose_factors(600, 2, false, true, false), true, true);
  expect(choose_factors(600, 1, false, true, false), false, true);
  expect(choose_factors(601, 2, false, true, false), true, false);
  expect(choose_factors(1000, 2, false, true, false), true, false);
  expect(choose_factors(1001, 2, false, true, false), false, false);
  expect(choose_factors(600, 2, true, true, false), false, false);
  expect(choose_factors(600, 2, false, false, false), true, false);
  expect(choose_factors(600, 2, false, true, true), true, false);
}

}  // namespace
}  // namespace diffsim::dynamics::solve_policy_test
