// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/tangent_space.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

NodeVectors<double> gather(const ConstraintSet& set, const Field& field) { return to_vectors(set.gather(field)); }

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
  if (!set_->has_couplings()) return;
  using Along = Dual<double, 1>;
  const NodeVectors<double> w_nodes = gather(*set_, w), dy_nodes = gather(*set_, dy);
  NodeVectors<Along> y(y_.size()), along_w(y_.size()), sum = zero_vectors<Along>(set_->num_nodes());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      y[i][c] = Along(y_[i][c]);
      y[i][c].derivative[0] = dy_nodes[i][c];
      along_w[i][c] = Along(w_nodes[i][c]);
    }
  for (std::size_t a = 0; a < lambda.size(); ++a) {
    const std::vector<Along> constant(lambda[a].begin(), lambda[a].end());
    set_->assemblies()[a].add_curvature(y, constant, along_w, 1.0, sum);
  }
  NodeVectors<double> derivative = zero_vectors<double>(set_->num_nodes());
  for (std::size_t i = 0; i < sum.size(); ++i)
    for (int c = 0; c < 3; ++c) derivative[i][c] = sum[i][c].derivative[0];
  set_->add(values_of(derivative), out);
}

double TangentSpace::curvature_square(const Multipliers& lambda) const {
  double sum = 0.0;
  for (std::size_t a = 0; a < lambda.size(); ++a)
    for (const double value : set_->assemblies()[a].curvature(y_, lambda[a])) sum += value * value;
  return sum;
}

void TangentSpace::add_normal_derivative(const Field& w, const Field& dy, Field& out) const {
  const NodeVectors<double> w_nodes = gather(*set_, w), dy_nodes = gather(*set_, dy);
  NodeVectors<double> normal = zero_vectors<double>(set_->num_nodes());
  collectively(set_->comm(), [&] {
    for (const Assembly& assembly : set_->assemblies()) {
      // wᵀ ∇²g_k dy is the derivative of (G(y) w)_k along dy.
      const std::vector<double> r = assembly.second_derivative(y_, w_nodes, dy_nodes);
      assembly.add_forces(y_, assembly.solve(y_, y_, ones_, false, r), -1.0, normal);
    }
  });
  set_->add(values_of(normal), out);
}

bool TangentSpace::retract(Field& x) const {
  NodeVectors<double> change = gather(*set_, x), scratch = zero_vectors<double>(set_->num_nodes());
  const NodeVectors<double> before = change;
  int good = 1;
  try {
    for (const Assembly& assembly : set_->assemblies()) assembly.correct_positions(y_, ones_, change, scratch);
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
