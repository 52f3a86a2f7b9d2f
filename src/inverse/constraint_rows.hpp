// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/inverse/optimise.hpp"

namespace diffsim::inverse {

/// Constraints lower ≤ c(u) ≤ upper of an optimisation, converted to inequalities g_i(u) ≤ 0 and equations h_i(u) = 0.
/// A constraint with two different finite bounds is converted to two inequalities. The constructor of ConstraintRows
/// and `move_to` are collective.
class ConstraintRows {
 public:
  /// Inequality or equation with the left-hand side sign · (c(u) - bound), where c is the function of the constraint
  /// with the index `constraint`.
  struct Row {
    std::size_t constraint;
    double sign, bound;
  };

  /// Throws Error (input) for a constraint without a finite bound, with a bound that is NaN, or with `lower` > `upper`.
  ConstraintRows(const std::vector<Constraint>& constraints, MPI_Comm comm);

  const std::vector<Row>& inequalities() const { return inequalities_; }
  const std::vector<Row>& equations() const { return equations_; }

  /// Evaluates all constraints and their gradients at u. `move_to` does nothing if the constraints were last evaluated
  /// at the same u. Throws Error (run) if a value or a gradient of a constraint is not finite.
  void move_to(const std::vector<double>& u);
  double value(const Row& row) const { return row.sign * (values_[row.constraint] - row.bound); }
  /// Returns this rank's part of the gradient of `value(row)` with respect to u.
  std::vector<double> gradient(const Row& row) const;
  /// Adds `factor` · `gradient(row)` to the vector `sum`.
  void add_gradient(const Row& row, double factor, std::vector<double>& sum) const;
  /// Returns the values c(u) of the functions of all constraints at the point u of the last call of `move_to`.
  const std::vector<double>& values() const { return values_; }

  /// Returns the scale of the inequality or equation `row`, by which violations are divided (see
  /// OptimiserOptions::constraint_tolerance).
  double scale(const Row& row) const { return scales_[row.constraint]; }
  /// Returns the largest violation of an inequality or equation at the point of the last call of `move_to`, divided by
  /// the `scale` of the inequality or equation; 0 if all constraints are satisfied.
  double violation() const;

 private:
  const std::vector<Constraint>& constraints_;
  MPI_Comm comm_;
  std::vector<Row> inequalities_, equations_;
  std::vector<double> scales_;  // [constraints]; empty before the first evaluation
  std::vector<double> u_;       // point of the last evaluation
  std::vector<double> values_;
  std::vector<std::vector<double>> gradients_;
};

}  // namespace diffsim::inverse
