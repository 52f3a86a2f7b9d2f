// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/tangent_space.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

NodeVectors<double> gather(const ConstraintSet& set, const Field& field) { return to_vectors(set.gather(field)); }

/// Returns `vectors` with derivatives of zero.
NodeVectors<Along> constant(const NodeVectors<double>& vectors) {
  NodeVectors<Along> along;
  for (const Vec3<double>& v : vectors) along.push_back({{Along(v[0]), Along(v[1]), Along(v[2])}});
  return along;
}

/// Returns `values` with the derivatives `changes`.
NodeVectors<Along> moving(const NodeVectors<double>& values, const NodeVectors<double>& changes) {
  NodeVectors<Along> along = constant(values);
  for (std::size_t i = 0; i < along.size(); ++i)
    for (int c = 0; c < 3; ++c) along[i][c].derivative[0] = changes[i][c];
  return along;
}

std::vector<std::vector<Along>> moving(const Multipliers& values, const Multipliers& changes) {
  std::vector<std::vector<Along>> along;
  for (std::size_t a = 0; a < values.size(); ++a) {
    along.emplace_back(values[a].begin(), values[a].end());
    for (std::size_t k = 0; k < values[a].size(); ++k) along[a][k].derivative[0] = changes[a][k];
  }
  return along;
}

}  // namespace

TangentSpace::TangentSpace(const ConstraintSet& set, const Field& y)
    : set_(&set), y_(gather(set, y)), ones_(set.num_nodes(), 1.0) {}

Multipliers TangentSpace::project(Field& w) const {
  const NodeVectors<double> at_nodes = gather(*set_, w);
  NodeVectors<double> normal = zero_vectors<double>(set_->num_nodes());
  Multipliers all;
  collectively(set_->comm(), [&] {
    for (const Assembly& assembly : set_->assemblies()) {
      all.push_back(assembly.solve(y_, y_, ones_, false, assembly.project(y_, at_nodes)));
      assembly.add_forces(y_, all.back(), -1.0, normal);
    }
  });
  set_->add(values_of(normal), w);
  return all;
}

void TangentSpace::add_curvature(const Multipliers& lambda, const Field& w, double scale, Field& out) const {
  const NodeVectors<double> at_nodes = gather(*set_, w);
  NodeVectors<double> sum = zero_vectors<double>(set_->num_nodes());
  for (std::size_t a = 0; a < lambda.size(); ++a)
    set_->assemblies()[a].add_curvature(y_, lambda[a], at_nodes, scale, sum);
  set_->add(values_of(sum), out);
}

void TangentSpace::add_curvature_derivative(const Multipliers& lambda, const Field& w, const Field& dy,
                                            Field& out) const {
  if (!set_->has_couplings() && !set_->placements_move()) return;
  const NodeVectors<Along> along_w = constant(gather(*set_, w)), y = moving(y_, gather(*set_, dy));
  NodeVectors<Along> sum = zero_vectors<Along>(set_->num_nodes());
  for (std::size_t a = 0; a < lambda.size(); ++a) {
    const std::vector<Along> constant(lambda[a].begin(), lambda[a].end());
    set_->assemblies()[a].add_curvature(y, constant, along_w, 1.0, sum);
  }
  set_->add(derivatives_of(sum), out);
}

double TangentSpace::curvature_square(const Multipliers& lambda) const {
  double sum = 0.0;
  for (std::size_t a = 0; a < lambda.size(); ++a)
    for (const double value : set_->assemblies()[a].curvature(y_, lambda[a])) sum += value * value;
  return sum;
}

void TangentSpace::add_normal_derivative(const Field& w, const Field& dy, Field& out) const {
  const NodeVectors<Along> w_nodes = constant(gather(*set_, w)), y = moving(y_, gather(*set_, dy));
  NodeVectors<double> normal = zero_vectors<double>(set_->num_nodes());
  collectively(set_->comm(), [&] {
    for (const Assembly& assembly : set_->assemblies()) {
      std::vector<double> r;
      for (const Along& slope : assembly.project(y, w_nodes)) r.push_back(slope.derivative[0]);
      assembly.add_forces(y_, assembly.solve(y_, y_, ones_, false, r), -1.0, normal);
    }
  });
  set_->add(values_of(normal), out);
}

void TangentSpace::add_change_by_placements(Field& out) const {
  const NodeVectors<Along> y = constant(y_);
  NodeVectors<double> change = zero_vectors<double>(set_->num_nodes());
  collectively(set_->comm(), [&] {
    for (const Assembly& assembly : set_->assemblies()) {
      std::vector<double> r;
      for (const Along& g : assembly.values(y)) r.push_back(g.derivative[0]);
      assembly.add_forces(y_, assembly.solve(y_, y_, ones_, false, r), -1.0, change);
    }
  });
  set_->add(values_of(change), out);
}

void TangentSpace::add_force_by_placements(const Multipliers& lambda, double scale, Field& out) const {
  const NodeVectors<Along> y = constant(y_);
  NodeVectors<Along> force = zero_vectors<Along>(set_->num_nodes());
  for (std::size_t a = 0; a < lambda.size(); ++a) {
    const std::vector<Along> multipliers(lambda[a].begin(), lambda[a].end());
    set_->assemblies()[a].add_forces(y, multipliers, scale, force);
  }
  set_->add(derivatives_of(force), out);
}

void TangentSpace::add_placement_gradient(const Multipliers& lambda, const Field& w, const Multipliers& mu) const {
  set_->placed_joints().add_slopes(lambda, y_, gather(*set_, w), 1.0);
  set_->placed_joints().add_values(mu, y_, -1.0);
}

void TangentSpace::add_placement_gradient_tangent(const Adjoints& at, const Adjoints& change, const Field& dy) const {
  const NodeVectors<Along> y = moving(y_, gather(*set_, dy)), w = moving(gather(*set_, at.w), gather(*set_, change.w));
  set_->placed_joints().add_slopes(moving(at.lambda, change.lambda), y, w, 1.0);
  set_->placed_joints().add_values(moving(at.mu, change.mu), y, -1.0);
}

bool TangentSpace::retract(Field& x, const Field* start) const {
  NodeVectors<double> change = gather(*set_, x), scratch = zero_vectors<double>(set_->num_nodes());
  const NodeVectors<double> before = change, at_start = start ? gather(*set_, *start) : y_;
  int good = 1;
  try {
    for (const Assembly& assembly : set_->assemblies())
      assembly.correct_positions(y_, ones_, change, scratch, &at_start);
  } catch (const Error&) {
    good = 0;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, set_->comm()));
  if (!good) return false;
  // After the subtraction, `change` is zero at nodes of assemblies that other ranks compute.
  for (std::size_t i = 0; i < change.size(); ++i) change[i] = change[i] - before[i];
  set_->add(values_of(change), x);
  return true;
}

}  // namespace diffsim::body
