// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the check of derivatives, with a Model whose derivatives can be made wrong.

#include "diffsim/inverse/gradient_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "adjoint/moving_points.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"

namespace diffsim::gradient_check_test {
namespace {

using namespace testing_adjoint;

std::map<std::string, UnknownCheck> check(const Motion& motion, int steps = 12,
                                          const std::vector<std::string>& names = {"rate", "push",
                                                                                   "initial_positions"}) {
  MovingPoints model(motion);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  State initial = model.make_state();
  initial["positions"].from_host({0.2 + 0.1 * rank, 0.5, 0.9, 1.4});
  EndLoss loss(steps);
  std::vector<Unknown> unknowns;
  for (const std::string& name : names) unknowns.emplace_back().parameter = name;
  MemoryStore store;
  InverseProblem problem(
      model, initial, steps, loss, unknowns, [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  std::map<std::string, UnknownCheck> checks;
  for (UnknownCheck& one : check_gradient(problem, problem.start())) {
    EXPECT_EQ(one.passed, one.verdict == CheckVerdict::passed || one.verdict == CheckVerdict::independent);
    checks[one.name] = one;
  }
  return checks;
}

bool says(const UnknownCheck& check, const std::string& words) { return check.note.find(words) != std::string::npos; }

TEST(gradient_check, right_derivatives_pass) {
  for (const auto& [name, one] : check({})) {
    EXPECT_EQ(one.verdict, CheckVerdict::passed) << name << ": " << one.note;
    EXPECT_LE(std::abs(one.slope - one.difference), 1e-9 * std::abs(one.slope)) << name;
    EXPECT_LE(one.difference_error, 1e-9 * std::abs(one.slope)) << name;
    EXPECT_LE(one.dot_product_error, 1e-13) << name;
    EXPECT_EQ(one.taylor_orders.size(), 4u) << name;
    // The orders are those of the largest steps, at which the third derivative with respect to the initial positions is
    // still noticeable.
    if (name != "initial_positions") {
      for (const double order : one.taylor_orders) EXPECT_NEAR(order, 2.0, 0.1) << name;
    }
    EXPECT_LT(one.amplification, 100.0);
    EXPECT_EQ(one.note, "");
  }
}

/// Returns a motion whose tangent and adjoint are wrong by the same factor, so that dot products show no error.
Motion wrong(const std::string& name, double factor) {
  Motion motion;
  motion.factors[name] = motion.tangents[name] = factor;
  return motion;
}

TEST(gradient_check, a_slope_that_is_wrong_by_little_fails_and_the_others_pass) {
  for (const double error : {1e-1, 1e-3, -1e-3, 1e-5, -1e-6, 1e-7})
    for (const std::string name : {"rate", "push"})
      for (const auto& [other, one] : check(wrong(name, 1.0 + error))) {
        EXPECT_EQ(one.verdict, other == name ? CheckVerdict::failed : CheckVerdict::passed)
            << name << " wrong by " << error << ", " << other << ": " << one.note;
        EXPECT_LE(one.dot_product_error, 1e-13);
        if (other != name) continue;
        EXPECT_NEAR(one.slope / one.difference, 1.0 + error, 1e-9);
        EXPECT_TRUE(says(one, "relative error ")) << one.note;
      }
}

TEST(gradient_check, an_adjoint_that_is_not_the_tangents_fails) {
  Motion motion;
  motion.factors["positions"] = 1.001;
  for (const auto& [name, one] : check(motion)) {
    EXPECT_EQ(one.verdict, CheckVerdict::failed) << name;
    EXPECT_TRUE(says(one, "products with the Jacobian and with its transpose differ")) << one.note;
    EXPECT_TRUE(says(one, "relative error ")) << one.note;
  }
}

TEST(gradient_check, says_when_the_loss_does_not_depend_on_a_parameter) {
  const UnknownCheck one = check({}, 12, {"unused", "rate"}).at("unused");
  EXPECT_EQ(one.verdict, CheckVerdict::independent);
  EXPECT_TRUE(one.passed);
  EXPECT_EQ(one.slope, 0.0);
  EXPECT_TRUE(says(one, "the loss does not depend on the parameter")) << one.note;
}

TEST(gradient_check, a_missing_adjoint_is_no_independence) {
  const UnknownCheck one = check(wrong("rate", 0.0)).at("rate");
  EXPECT_EQ(one.verdict, CheckVerdict::failed);
  EXPECT_EQ(one.slope, 0.0);
}

TEST(gradient_check, noise_hides_small_errors_and_no_large_ones) {
  for (const double grid : {1e-12, 1e-9, 1e-7}) {
    Motion motion;
    motion.grid = grid;
    const UnknownCheck right = check(motion).at("rate");
    EXPECT_EQ(right.verdict, CheckVerdict::passed) << grid << ": " << right.note;
    EXPECT_GT(right.noise, 0.1 * grid);
    EXPECT_GT(right.difference_error, grid);
    for (const double error : {1e-2, 3e-3}) {
      motion.factors["rate"] = motion.tangents["rate"] = 1.0 + error;
      EXPECT_EQ(check(motion).at("rate").verdict, CheckVerdict::failed) << grid << ", " << error;
    }
  }
}

TEST(gradient_check, what_noise_hides_does_not_pass_and_says_so) {
  Motion motion;
  motion.grid = 1e-4;
  const UnknownCheck one = check(motion).at("rate");
  EXPECT_EQ(one.verdict, CheckVerdict::unresolved);
  EXPECT_FALSE(one.passed);
  EXPECT_TRUE(says(one, "not resolvable: relative noise ")) << one.note;
}

TEST(gradient_check, a_solvers_tolerance_is_a_figure_of_its_own) {
  Motion motion;
  motion.bias = 1e-7;
  const UnknownCheck one = check(motion).at("rate");
  EXPECT_EQ(one.verdict, CheckVerdict::passed) << one.note;
  EXPECT_GT(one.solver_effect, 0.0);
  motion.factors["rate"] = motion.tangents["rate"] = 1.001;
  EXPECT_EQ(check(motion).at("rate").verdict, CheckVerdict::failed);
}

TEST(gradient_check, says_when_the_gradient_has_exploded) {
  // Steps that overshoot make the map chaotic.
  Motion motion;
  motion.h = 1.0;
  motion.frequency = 9.0;
  const auto checks = check(motion, 25);
  for (const auto& [name, one] : checks) {
    EXPECT_GT(one.amplification, 1e8) << name;
    EXPECT_EQ(one.verdict, CheckVerdict::unresolved) << name << ": " << one.note;
    EXPECT_TRUE(says(one, "the gradient has exploded")) << one.note;
    EXPECT_TRUE(says(one, "an integrator with damping, such as implicit_euler")) << one.note;
  }
}

TEST(gradient_check, a_gradient_that_is_not_finite_fails) {
  const UnknownCheck one = check(wrong("rate", std::nan(""))).at("rate");
  EXPECT_EQ(one.verdict, CheckVerdict::failed);
  EXPECT_TRUE(says(one, "the gradient is not finite")) << one.note;
}

}  // namespace
}  // namespace diffsim::gradient_check_test
