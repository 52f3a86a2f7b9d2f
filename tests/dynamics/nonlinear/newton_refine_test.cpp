// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's method continues below a bound of the rounding error that is too large.

#include <gtest/gtest.h>

#include <cmath>

#include "dynamics/nonlinear/newton.hpp"

namespace diffsim::dynamics::newton_refine_test {
namespace {

/// Problem with Φ = q²/2 + q⁴/4 - q. The reported residual norm is at least `noise`, the reported bound of the rounding
/// error is 1e-3.
class Quartic : public NewtonProblem {
 public:
  explicit Quartic(double noise) : noise_(noise) {}

  bool has_potential() const override { return true; }
  Evaluation evaluate(const Field& y, Field& residual) override {
    const double q = y.data()[0], r = q + q * q * q - 1.0;
    residual.data()[0] = r;
    return {true, std::max(std::abs(r), noise_), 1.0, q * q / 2.0 + q * q * q * q / 4.0 - q};
  }
  double find_gap(const Field&, Field& gap) override {
    gap.fill(0.0);
    return 0.0;
  }
  LinearReport find_direction(const Field& y, const Field& residual, const Field*, double, Projection,
                              Field& direction) override {
    ++directions;
    direction.data()[0] = -residual.data()[0] / (1.0 + 3.0 * y.data()[0] * y.data()[0]);
    LinearReport report;
    report.converged = true;
    return report;
  }
  bool has_contact() const override { return false; }
  bool solves_exactly() override { return true; }
  double dot(const Field& x, const Field& y) const override { return x.data()[0] * y.data()[0]; }
  double largest(const Field& x) const override { return std::abs(x.data()[0]); }
  bool move(const Field& from, double t, const Field& direction, Field& to) const override {
    to.copy_from(from);
    axpy(t, direction, to);
    return true;
  }
  bool has_constraints() const override { return false; }
  double max_step(const Field&, double, const Field&, double) override { return 1.0; }
  double progress() const override { return 1.0; }
  double progress_goal() const override { return 1.0; }
  void set_progress(double) override {}
  double rounding() const override { return 1e-3; }

  int directions = 0;

 private:
  double noise_;
};

NewtonReport solve(Quartic& problem, const NewtonOptions& options) {
  Field y("y", Entities::one_for_all(MPI_COMM_SELF), 1);
  return solve_by_newton(problem, options, y);
}

TEST(newton_refine, reaches_the_tolerance_where_rounding_leaves_less_than_its_bound) {
  Quartic problem(0.0);
  const NewtonReport report = solve(problem, {.tolerance = 1e-12});
  EXPECT_TRUE(report.converged);
  EXPECT_LE(report.residuals.back(), 1e-12);
}

TEST(newton_refine, gives_up_after_one_direction_where_the_residual_stays) {
  Quartic problem(1e-4);
  const NewtonReport report = solve(problem, {.tolerance = 1e-12});
  EXPECT_TRUE(report.converged);
  EXPECT_DOUBLE_EQ(report.residuals.back(), 1e-4);
  EXPECT_EQ(problem.directions, report.iterations + 1);
}

TEST(newton_refine, leaves_iterations_that_are_differentiated_as_they_are) {
  Quartic problem(0.0);
  const NewtonReport report = solve(problem, {.tolerance = 1e-12, .try_exact = true});
  EXPECT_TRUE(report.converged);
  EXPECT_GT(report.residuals.back(), 1e-12);
  EXPECT_LE(report.residuals.back(), 1e-3);
}

}  // namespace
}  // namespace diffsim::dynamics::newton_refine_test
