// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's method moves prescribed components to their prescribed values although step lengths are limited.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dynamics/nonlinear/newton.hpp"

namespace diffsim::dynamics::newton_gap_test {
namespace {

/// Problem with Φ = ½ (q - 2 p)² for y = (p, q), where p is prescribed to be 1. One step changes p and q by at most
/// `reach`.
class Tandem : public NewtonProblem {
 public:
  Tandem(double p, double q) : reach_{p, q} {}

  bool has_potential() const override { return true; }
  Evaluation evaluate(const Field& y, Field& residual) override {
    const double r = y.data()[1] - 2.0 * y.data()[0];
    residual.data()[0] = 0.0;
    residual.data()[1] = r;
    return {true, std::abs(r), 1.0, 0.5 * r * r};
  }
  double find_gap(const Field& y, Field& gap) override {
    gap.data()[0] = 1.0 - y.data()[0];
    gap.data()[1] = 0.0;
    return std::abs(gap.data()[0]);
  }
  LinearReport find_direction(const Field&, const Field& residual, const Field* gap, double, Projection,
                              Field& direction) override {
    gaps.push_back(gap ? gap->data()[0] : -1.0);
    direction.data()[0] = gap ? gap->data()[0] : 0.0;
    direction.data()[1] = 2.0 * direction.data()[0] - residual.data()[1];
    LinearReport report;
    report.converged = true;
    return report;
  }
  bool has_contact() const override { return true; }
  bool uses_factors() override { return true; }
  double dot(const Field& x, const Field& y) const override {
    return x.data()[0] * y.data()[0] + x.data()[1] * y.data()[1];
  }
  double largest(const Field& x) const override { return std::max(std::abs(x.data()[0]), std::abs(x.data()[1])); }
  bool move(const Field& from, double t, const Field& direction, Field& to) const override {
    to.copy_from(from);
    axpy(t, direction, to);
    return true;
  }
  bool has_constraints() const override { return false; }
  double max_step(const Field& from, double, const Field& to, double) override {
    double t = 1.0;
    for (int k = 0; k < 2; ++k) {
      const double way = std::abs(to.data()[k] - from.data()[k]);
      if (way > (1.0 + 1e-12) * reach_[k]) t = std::min(t, reach_[k] / way);
    }
    return t;
  }
  double progress() const override { return 1.0; }
  double progress_goal() const override { return 1.0; }
  void set_progress(double) override {}
  double rounding() const override { return 0.0; }

  std::vector<double> gaps;  ///< gap in each iteration; -1 if prescribed components are fixed

 private:
  double reach_[2];
};

/// Solves from y = 0 and checks the solution y = (1, 2). Returns the number of iterations.
int expect_solved(Tandem& problem) {
  Field y("y", Entities::one_for_all(MPI_COMM_SELF), 2);
  const NewtonReport report = solve_by_newton(problem, NewtonOptions{}, y);
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_DOUBLE_EQ(y.data()[0], 1.0);
  EXPECT_NEAR(y.data()[1], 2.0, 1e-9);
  return report.iterations;
}

/// Although q can change by only 0.1 per step, p reaches its prescribed value in one step.
TEST(newton_gap, prescribed_components_go_as_far_as_they_may) {
  Tandem problem(10.0, 0.1);
  const int iterations = expect_solved(problem);
  EXPECT_EQ(std::count_if(problem.gaps.begin(), problem.gaps.end(), [](double gap) { return gap > 0.0; }), 1);
  EXPECT_LE(iterations, 22);
}

/// Four steps of q alone follow each step of p if p can change by only a quarter per step.
TEST(newton_gap, free_components_follow_in_steps_of_their_own) {
  Tandem problem(0.25, 0.05);
  expect_solved(problem);
  ASSERT_GE(problem.gaps.size(), 6u);
  EXPECT_DOUBLE_EQ(problem.gaps[0], 1.0);
  for (std::size_t k = 1; k < 5; ++k) EXPECT_DOUBLE_EQ(problem.gaps[k], -1.0);
  EXPECT_NEAR(problem.gaps[5], 0.75, 1e-12);
}

}  // namespace
}  // namespace diffsim::dynamics::newton_gap_test
