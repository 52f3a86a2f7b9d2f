// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// How Newton's method brings prescribed components to their places where something limits its steps.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dynamics/newton.hpp"

namespace diffsim::dynamics::newton_gap_test {
namespace {

/// Φ = ½ (q - 2 p)² of y = (p, q), p prescribed to be 1. A motion changes p and q by no more than `reach`.
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
  bool solves_exactly() override { return true; }
  double dot(const Field& x, const Field& y) const override {
    return x.data()[0] * y.data()[0] + x.data()[1] * y.data()[1];
  }
  double largest(const Field& x) const override { return std::max(std::abs(x.data()[0]), std::abs(x.data()[1])); }
  void move(const Field& from, double t, const Field& direction, Field& to) const override {
    to.copy_from(from);
    axpy(t, direction, to);
  }
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

  std::vector<double> gaps;  ///< of each iteration; -1 where prescribed components stay

 private:
  double reach_[2];
};

/// Solves from y = 0 on and expects the solution, y = (1, 2). Returns how many iterations it took.
int expect_solved(Tandem& problem) {
  Field y("y", Entities::one_for_all(MPI_COMM_SELF), 2);
  const NewtonReport report = solve_by_newton(problem, NewtonOptions{}, y);
  EXPECT_TRUE(report.converged) << report.reason;
  EXPECT_DOUBLE_EQ(y.data()[0], 1.0);
  EXPECT_NEAR(y.data()[1], 2.0, 1e-9);
  return report.iterations;
}

/// q, which can go by 0.1 only, does not keep p from its place.
TEST(newton_gap, prescribed_components_go_as_far_as_they_may) {
  Tandem problem(10.0, 0.1);
  const int iterations = expect_solved(problem);
  EXPECT_EQ(std::count_if(problem.gaps.begin(), problem.gaps.end(), [](double gap) { return gap > 0.0; }), 1);
  EXPECT_LE(iterations, 22);
}

/// Where p may go by a quarter only, four steps of q follow each of its steps.
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
