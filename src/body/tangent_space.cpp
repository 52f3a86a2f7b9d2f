// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/tangent_space.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

NodeVectors<double> gather(const ConstraintSet& set, const Field& field) {
  const std::vector<double> values = set.gather(field);
  NodeVectors<double> vectors(set.num_nodes());
  for (std::size_t i = 0; i < values.size(); ++i) vectors[i / 3][static_cast<int>(i % 3)] = values[i];
  return vectors;
}

void add(const ConstraintSet& set, const NodeVectors<double>& vectors, Field& field) {
  std::vector<double> values;
  for (const Vec3<double>& v : vectors)
    for (int c = 0; c < 3; ++c) values.push_back(v[c]);
  set.add(values, field);
}

NodeVectors<double> zeros(const ConstraintSet& set) {
  return NodeVectors<double>(set.num_nodes(), Vec3<double>{{0.0, 0.0, 0.0}});
}

}  // namespace

TangentSpace::TangentSpace(const ConstraintSet& set, const Field& y)
    : set_(&set), y_(gather(set, y)), ones_(set.num_nodes(), 1.0) {}

Multipliers TangentSpace::project(Field& w) const {
  const NodeVectors<double> at_nodes = gather(*set_, w);
  NodeVectors<double> normal = zeros(*set_);
  Multipliers all;
  collectively(set_->comm(), [&] {
    for (const Assembly& assembly : set_->assemblies()) {
      all.push_back(assembly.solve(y_, y_, ones_, false, assembly.project(y_, at_nodes)));
      assembly.add_forces(y_, all.back(), -1.0, normal);
    }
  });
  add(*set_, normal, w);
  return all;
}

void TangentSpace::add_curvature(const Multipliers& lambda, const Field& w, double scale, Field& out) const {
  const NodeVectors<double> at_nodes = gather(*set_, w);
  NodeVectors<double> sum = zeros(*set_);
  for (std::size_t a = 0; a < lambda.size(); ++a) set_->assemblies()[a].add_curvature(lambda[a], at_nodes, scale, sum);
  add(*set_, sum, out);
}

double TangentSpace::curvature_square(const Multipliers& lambda) const {
  double sum = 0.0;
  for (std::size_t a = 0; a < lambda.size(); ++a)
    for (const double value : set_->assemblies()[a].curvature(lambda[a])) sum += value * value;
  return sum;
}

void TangentSpace::add_normal_derivative(const Field& w, const Field& dy, Field& out) const {
  const NodeVectors<double> w_nodes = gather(*set_, w), dy_nodes = gather(*set_, dy);
  NodeVectors<double> normal = zeros(*set_);
  collectively(set_->comm(), [&] {
    for (const Assembly& assembly : set_->assemblies()) {
      // wᵀ ∇²g_k dy is the derivative of (G(y) w)_k along dy.
      const std::vector<double> r = assembly.second_derivative(w_nodes, dy_nodes);
      assembly.add_forces(y_, assembly.solve(y_, y_, ones_, false, r), -1.0, normal);
    }
  });
  add(*set_, normal, out);
}

bool TangentSpace::retract(Field& x) const {
  NodeVectors<double> change = gather(*set_, x), scratch = zeros(*set_);
  const NodeVectors<double> before = change;
  int good = 1;
  try {
    for (const Assembly& assembly : set_->assemblies()) assembly.correct_positions(y_, ones_, change, scratch);
  } catch (const Error&) {
    good = 0;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, set_->comm()));
  if (!good) return false;
  // Nodes that other ranks' assemblies contain are unchanged here.
  for (std::size_t i = 0; i < change.size(); ++i) change[i] = change[i] - before[i];
  add(*set_, change, x);
  return true;
}

}  // namespace diffsim::body
