// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/constraint_rows.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::inverse {
namespace {

void check(const Constraint& constraint) {
  const std::string name = "the constraint of " + constraint.function->name();
  if (std::isnan(constraint.lower) || std::isnan(constraint.upper) ||
      (std::isinf(constraint.lower) && std::isinf(constraint.upper)))
    throw Error(name + " has no bound; give a lower bound, an upper bound, or both", ErrorKind::input);
  if (constraint.lower > constraint.upper)
    throw Error(name + " cannot be satisfied, because its lower bound " + std::to_string(constraint.lower) +
                    " is above its upper bound " + std::to_string(constraint.upper),
                ErrorKind::input);
}

}  // namespace

ConstraintRows::ConstraintRows(const std::vector<Constraint>& constraints, MPI_Comm comm)
    : constraints_(constraints), comm_(comm) {
  collectively(comm, [&] {
    for (const Constraint& constraint : constraints_) check(constraint);
  });
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const Constraint& constraint = constraints_[i];
    if (constraint.lower == constraint.upper) {
      equations_.push_back({i, 1.0, constraint.upper});
      continue;
    }
    if (std::isfinite(constraint.upper)) inequalities_.push_back({i, 1.0, constraint.upper});
    if (std::isfinite(constraint.lower)) inequalities_.push_back({i, -1.0, constraint.lower});
  }
}

void ConstraintRows::move_to(const std::vector<double>& u) {
  int same = !scales_.empty() && u == u_;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_));
  if (same || constraints_.empty()) return;
  std::vector<double> values(constraints_.size());
  std::vector<std::vector<double>> gradients(constraints_.size());
  for (std::size_t i = 0; i < constraints_.size(); ++i) values[i] = constraints_[i].function->gradient(u, gradients[i]);
  int finite = 1;
  for (const double value : values) finite = finite && std::isfinite(value);
  for (const std::vector<double>& gradient : gradients)
    for (const double value : gradient) finite = finite && std::isfinite(value);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &finite, 1, MPI_INT, MPI_MIN, comm_));
  if (finite == 0) throw Error("a constraint or its gradient is not finite", ErrorKind::run);
  values_ = values;
  gradients_ = std::move(gradients);
  u_ = u;
  if (!scales_.empty()) return;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    double scale = 0.0;
    for (const double bound : {constraints_[i].lower, constraints_[i].upper})
      if (std::isfinite(bound)) scale = std::max(scale, std::abs(bound));
    if (scale == 0.0) scale = std::abs(values_[i]);
    scales_.push_back(scale > 0.0 ? scale : 1.0);
  }
}

std::vector<double> ConstraintRows::gradient(const Row& row) const {
  std::vector<double> result = gradients_[row.constraint];
  for (double& value : result) value *= row.sign;
  return result;
}

void ConstraintRows::add_gradient(const Row& row, double factor, std::vector<double>& sum) const {
  const std::vector<double>& of = gradients_[row.constraint];
  for (std::size_t j = 0; j < of.size(); ++j) sum[j] += factor * row.sign * of[j];
}

double ConstraintRows::violation() const {
  double largest = 0.0;
  for (const Row& row : inequalities_) largest = std::max(largest, value(row) / scale(row));
  for (const Row& row : equations_) largest = std::max(largest, std::abs(value(row)) / scale(row));
  return largest;
}

}  // namespace diffsim::inverse
