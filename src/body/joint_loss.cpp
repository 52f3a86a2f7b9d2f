// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/body/joint.hpp"

#include <array>
#include <utility>
#include <vector>

#include "body/joint_drive.hpp"
#include "core/add_to_entries.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

using Tangent = Dual<double, 1>;

}  // namespace

struct JointLoss::Nodes {
  body::JointNodes of;
  MPI_Comm comm;
  int rank;

  /// Returns the values of a field at the nodes, on all ranks. Collective.
  std::array<Vec3<double>, 8> gather(const Field& field) const {
    const std::vector<double> values = field.to_host();
    std::array<double, 24> at{};
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t c = 0; c < 3; ++c)
        if (of.nodes[k].rank == rank) at[3 * k + c] = values[3 * static_cast<std::size_t>(of.nodes[k].index) + c];
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, at.data(), 24, MPI_DOUBLE, MPI_SUM, comm));
    std::array<Vec3<double>, 8> nodes;
    for (std::size_t i = 0; i < 24; ++i) nodes[i / 3][static_cast<int>(i % 3)] = at[i];
    return nodes;
  }
  /// Returns the residual q - target and sets its gradient. T is double, or Dual for values with a derivative.
  template <class T>
  T residual(const Vec3<T> (&x)[8], double target, Vec3<T> (&gradient)[8]) const {
    return -of.force.behind(T(target), of.force.coordinate(x, gradient));
  }
  /// Adds to `field` the vectors at the nodes that this rank owns.
  void add(const std::array<Vec3<double>, 8>& vectors, Field& field) const {
    for (std::size_t k = 0; k < 8; ++k)
      if (of.nodes[k].rank == rank)
        add_to_entries(field, 3 * static_cast<std::size_t>(of.nodes[k].index),
                       {vectors[k][0], vectors[k][1], vectors[k][2]});
  }
  /// Returns the residual and sets its gradient, both with their derivatives along `tangent`.
  Tangent along(const State& state, const State& tangent, double target, Vec3<Tangent> (&gradient)[8]) const {
    const std::array<Vec3<double>, 8> x = gather(state["positions"]), dx = gather(tangent["positions"]);
    Vec3<Tangent> moving[8];
    for (std::size_t k = 0; k < 8; ++k)
      for (int c = 0; c < 3; ++c) {
        moving[k][c] = Tangent(x[k][c]);
        moving[k][c].derivative[0] = dx[k][c];
      }
    return residual(moving, target, gradient);
  }
  double at(const State& state, double target, Vec3<double> (&gradient)[8]) const {
    const std::array<Vec3<double>, 8> x = gather(state["positions"]);
    Vec3<double> nodes[8];
    for (std::size_t k = 0; k < 8; ++k) nodes[k] = x[k];
    return residual(nodes, target, gradient);
  }
};

JointLoss::JointLoss(const TetrahedralMesh& mesh, const Joint& joint, std::map<int, double> targets)
    : comm_(mesh.comm()),
      targets_(std::move(targets)),
      nodes_(new Nodes{body::find_joint_nodes(mesh, joint), comm_, rank_of(comm_)}) {
  if (targets_.empty()) throw Error("joint '" + joint.name + "' has no target at any step", ErrorKind::input);
}

JointLoss::~JointLoss() = default;

std::string JointLoss::unit() const { return nodes_->of.force.is_rotation ? "rad²" : "m²"; }

double JointLoss::value(int n, const State& state, const ParameterSet&) {
  Vec3<double> gradient[8];
  const double r = nodes_->at(state, targets_.at(n), gradient);
  return is_first_rank(comm_) ? 0.5 * r * r / static_cast<double>(targets_.size()) : 0.0;
}

double JointLoss::tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) {
  Vec3<Tangent> gradient[8];
  const Tangent r = nodes_->along(state, tangent, targets_.at(n), gradient);
  return is_first_rank(comm_) ? r.value * r.derivative[0] / static_cast<double>(targets_.size()) : 0.0;
}

void JointLoss::add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) {
  Vec3<double> gradient[8];
  const double r = nodes_->at(state, targets_.at(n), gradient) / static_cast<double>(targets_.size());
  std::array<Vec3<double>, 8> vectors;
  for (std::size_t k = 0; k < 8; ++k) vectors[k] = r * gradient[k];
  nodes_->add(vectors, adjoint["positions"]);
}

void JointLoss::add_gradient_tangent(int n, const State& state, const ParameterSet&, const State& tangent,
                                     const ParameterSet&, State& adjoint_tangent, ParameterSet&) {
  Vec3<Tangent> gradient[8];
  const Tangent r = nodes_->along(state, tangent, targets_.at(n), gradient);
  std::array<Vec3<double>, 8> vectors;
  for (std::size_t k = 0; k < 8; ++k)
    for (int c = 0; c < 3; ++c)
      vectors[k][c] = (r * gradient[k][c]).derivative[0] / static_cast<double>(targets_.size());
  nodes_->add(vectors, adjoint_tangent["positions"]);
}

void JointLoss::add_gauss_newton(int n, const State& state, const ParameterSet&, const State& tangent,
                                 const ParameterSet&, State& adjoint, ParameterSet&) {
  Vec3<Tangent> gradient[8];
  const Tangent r = nodes_->along(state, tangent, targets_.at(n), gradient);
  std::array<Vec3<double>, 8> vectors;
  for (std::size_t k = 0; k < 8; ++k)
    for (int c = 0; c < 3; ++c)
      vectors[k][c] = r.derivative[0] * gradient[k][c].value / static_cast<double>(targets_.size());
  nodes_->add(vectors, adjoint["positions"]);
}

}  // namespace diffsim
