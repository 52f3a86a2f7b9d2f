// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/constraint_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "error_text.hpp"

namespace diffsim::constraint_rows_test {
namespace {

using inverse::ConstraintRows;
using Numbers = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Function c(u) = Σ u₀² + 3 u₁, summed over the ranks, which counts its evaluations.
class Squares : public ConstraintFunction {
 public:
  std::string name() const override { return "squares"; }
  double gradient(const Numbers& u, Numbers& gradient) override {
    ++evaluations;
    gradient = {2.0 * u[0], 3.0};
    return sum_over_ranks(u[0] * u[0] + 3.0 * u[1], MPI_COMM_WORLD);
  }
  int evaluations = 0;
};

class Rows : public testing::Test {
 protected:
  /// Constraint on c(u), with c = Σ (u₀² + 3 u₁).
  Constraint within(double lower, double upper) const { return {squares, lower, upper}; }

  std::shared_ptr<Squares> squares = std::make_shared<Squares>();
  double ranks = num_ranks(MPI_COMM_WORLD);
};

TEST_F(Rows, have_one_inequality_for_each_bound_and_one_equation_for_equal_bounds) {
  const std::vector<Constraint> constraints{within(-infinity, 3.0), within(1.0, 1.0), within(-2.0, infinity),
                                            within(-1.0, 4.0)};
  const ConstraintRows rows(constraints, MPI_COMM_WORLD);
  ASSERT_EQ(rows.equations().size(), 1u);
  EXPECT_EQ(rows.equations()[0].constraint, 1u);
  EXPECT_EQ(rows.equations()[0].sign, 1.0);
  EXPECT_EQ(rows.equations()[0].bound, 1.0);
  const ConstraintRows::Row expected[] = {{0, 1.0, 3.0}, {2, -1.0, -2.0}, {3, 1.0, 4.0}, {3, -1.0, -1.0}};
  ASSERT_EQ(rows.inequalities().size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows.inequalities()[i].constraint, expected[i].constraint) << i;
    EXPECT_EQ(rows.inequalities()[i].sign, expected[i].sign) << i;
    EXPECT_EQ(rows.inequalities()[i].bound, expected[i].bound) << i;
  }
}

// At u = (2, 1) on each rank, c = 7 per rank and its gradient is (4, 3).
TEST_F(Rows, have_the_value_gradient_and_violation_of_the_constraint) {
  const double c = 7.0 * ranks;
  const std::vector<Constraint> constraints{within(10.0 * ranks, 20.0 * ranks), within(5.0 * ranks, 5.0 * ranks)};
  ConstraintRows rows(constraints, MPI_COMM_WORLD);
  rows.move_to({2.0, 1.0});
  EXPECT_EQ(rows.values(), Numbers(2, c));
  const ConstraintRows::Row &upper = rows.inequalities()[0], &lower = rows.inequalities()[1];
  EXPECT_EQ(rows.value(upper), c - 20.0 * ranks);
  EXPECT_EQ(rows.value(lower), 10.0 * ranks - c);
  EXPECT_EQ(rows.value(rows.equations()[0]), c - 5.0 * ranks);
  EXPECT_EQ(rows.gradient(upper), (Numbers{4.0, 3.0}));
  EXPECT_EQ(rows.gradient(lower), (Numbers{-4.0, -3.0}));
  Numbers sum{1.0, 1.0};
  rows.add_gradient(lower, 0.5, sum);
  EXPECT_EQ(sum, (Numbers{-1.0, -0.5}));
  // The scale is the largest magnitude of the bounds.
  EXPECT_EQ(rows.scale(upper), 20.0 * ranks);
  EXPECT_EQ(rows.scale(lower), 20.0 * ranks);
  EXPECT_DOUBLE_EQ(rows.violation(), 2.0 / 5.0);  // the equation; the lower bound is violated by 3/20
  rows.move_to({0.0, 5.0 / 3.0});                 // c = 5 per rank
  EXPECT_DOUBLE_EQ(rows.violation(), 5.0 / 20.0);
  rows.move_to({0.0, 1.0});  // c = 3 per rank; both signs of an equation count
  EXPECT_DOUBLE_EQ(rows.violation(), 2.0 / 5.0);
}

TEST_F(Rows, without_violation) {
  const std::vector<Constraint> constraints{within(-infinity, 8.0 * ranks)};
  ConstraintRows rows(constraints, MPI_COMM_WORLD);
  rows.move_to({2.0, 1.0});
  EXPECT_EQ(rows.violation(), 0.0);
}

TEST_F(Rows, compare_violations_of_zero_bounds_with_the_first_value) {
  const std::vector<Constraint> constraints{within(-infinity, 0.0)};
  ConstraintRows rows(constraints, MPI_COMM_WORLD), others(constraints, MPI_COMM_WORLD);
  const ConstraintRows::Row& row = rows.inequalities()[0];
  rows.move_to({2.0, 0.0});
  EXPECT_EQ(rows.scale(row), 4.0 * ranks);
  rows.move_to({1.0, 0.0});
  EXPECT_EQ(rows.scale(row), 4.0 * ranks);
  EXPECT_EQ(rows.violation(), 0.25);
  others.move_to({0.0, 0.0});
  EXPECT_EQ(others.scale(row), 1.0);
}

TEST_F(Rows, are_evaluated_once_at_each_point) {
  const std::vector<Constraint> constraints{within(-infinity, 1.0)};
  ConstraintRows rows(constraints, MPI_COMM_WORLD);
  rows.move_to({1.0, 2.0});
  rows.move_to({1.0, 2.0});
  EXPECT_EQ(squares->evaluations, 1);
  // All ranks evaluate the constraints if the point changes on the first rank only.
  rows.move_to({is_first_rank(MPI_COMM_WORLD) ? 0.0 : 1.0, 2.0});
  EXPECT_EQ(squares->evaluations, 2);
  EXPECT_EQ(rows.values(), Numbers(1, 7.0 * ranks - 1.0));
  // A value that is not finite on one rank is an error on all ranks, and does not replace the last point.
  try {
    rows.move_to({0.0, is_first_rank(MPI_COMM_WORLD) ? infinity : 2.0});
    ADD_FAILURE() << "evaluated";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
  }
  EXPECT_EQ(rows.values(), Numbers(1, 7.0 * ranks - 1.0));
}

TEST_F(Rows, refuse_constraints_without_bounds_or_solutions) {
  const auto refusal = [&](const Constraint& constraint) {
    const std::vector<Constraint> constraints{constraint};
    return error_of([&] { ConstraintRows(constraints, MPI_COMM_WORLD); });
  };
  EXPECT_CONTAINS(refusal(within(-infinity, infinity)), "the constraint of squares has no bound");
  EXPECT_CONTAINS(refusal(within(std::nan(""), 1.0)), "has no bound");
  EXPECT_CONTAINS(refusal(within(0.0, std::nan(""))), "has no bound");
  EXPECT_CONTAINS(refusal(within(2.0, 1.0)), "cannot be satisfied, because its lower bound");
}

}  // namespace
}  // namespace diffsim::constraint_rows_test
