// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's method continues below a bound of the rounding error that is too large.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

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
  bool uses_factors() override { return true; }
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

/// Quartic whose potential rises with each evaluation, and whose dot products are constant: rounding errors exceed the
/// changes of both.
class Rounded : public Quartic {
 public:
  Rounded() : Quartic(0.0) {}
  Evaluation evaluate(const Field& y, Field& residual) override {
    Evaluation at = Quartic::evaluate(y, residual);
    at.potential = ++evaluations_;
    return at;
  }
  double dot(const Field&, const Field&) const override { return -1.0; }

 private:
  int evaluations_ = 0;
};

TEST(newton_refine, accepts_a_trial_that_ends_the_iterations_where_rounding_hides_the_fall_of_the_potential) {
  Rounded problem;
  Field y("y", Entities::one_for_all(MPI_COMM_SELF), 1);
  y.fill(0.7);  // one iteration reduces the residual from 4e-2 to 6e-4, below the bound of the rounding error
  const NewtonReport report = solve_by_newton(problem, {.tolerance = 1e-12, .try_exact = true}, y);
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_EQ(report.iterations, 1);
  EXPECT_EQ(report.reductions, 0);
}

/// Quartic that stores the tolerance of each linear system.
class Recorded : public Quartic {
 public:
  Recorded() : Quartic(0.0) {}
  LinearReport find_direction(const Field& y, const Field& residual, const Field* gap, double tolerance,
                              Projection projection, Field& direction) override {
    tolerances.push_back(tolerance);
    return Quartic::find_direction(y, residual, gap, tolerance, projection, direction);
  }
  std::vector<double> tolerances;
};

TEST(newton_refine, factored_systems_have_tolerances_far_below_the_reduction_by_exact_steps) {
  Recorded problem;
  const NewtonReport report = solve(problem, {.tolerance = 1e-14});
  EXPECT_TRUE(report.converged);
  const std::vector<double>& r = report.residuals;
  ASSERT_GE(problem.tolerances.size(), 5U);
  EXPECT_EQ(problem.tolerances[0], 1e-3);
  for (std::size_t k = 1; k + 1 < r.size(); ++k) {
    const double ratio = r[k] / r[k - 1];
    EXPECT_DOUBLE_EQ(problem.tolerances[k], std::clamp(1e-2 * ratio * ratio, 1e-12, 1e-3));
  }
}

}  // namespace
}  // namespace diffsim::dynamics::newton_refine_test
