// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/body/joint.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "body/joint_drive.hpp"
#include "core/add_to_entries.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

using namespace body;

}  // namespace

struct JointLoss::Nodes {
  body::JointNodes of;
  Joint joint;
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
  /// Adds to `field` the vectors at the nodes that this rank owns.
  void add(const std::array<Vec3<double>, 8>& vectors, Field& field) const {
    for (std::size_t k = 0; k < 8; ++k)
      if (of.nodes[k].rank == rank)
        add_to_entries(field, 3 * static_cast<std::size_t>(of.nodes[k].index),
                       {vectors[k][0], vectors[k][1], vectors[k][2]});
  }
  Placement placement(const ParameterSet& parameters) const {
    return read_placement(parameters, joint, placement_of(joint));
  }
  /// Returns the residual q - target, and sets `gradient` to its derivatives with respect to the positions x of the
  /// nodes. T is double, or Dual for values with derivatives.
  template <class T>
  T residual(const Vec3<T> (&x)[8], const body::PlacementOf<T>& placement, double target,
             Vec3<T> (&gradient)[8]) const {
    const body::JointCoordinateOf<T> coordinate = coordinate_at(of.geometry, placement);
    return -coordinate.behind(T(target), coordinate(x, gradient));
  }
  double at(const State& state, const ParameterSet& parameters, double target, Vec3<double> (&gradient)[8]) const {
    const std::array<Vec3<double>, 8> x = gather(state["positions"]);
    Vec3<double> nodes[8];
    for (std::size_t k = 0; k < 8; ++k) nodes[k] = x[k];
    return residual(nodes, placement(parameters), target, gradient);
  }
  /// Positions of the nodes and placement of the joint, with their derivatives along a direction.
  struct Moving {
    Vec3<Along> x[8];
    body::PlacementOf<Along> placement;
  };
  Moving moving(const State& state, const ParameterSet& parameters, const State& tangent,
                const ParameterSet& direction) const {
    const std::array<Vec3<double>, 8> x = gather(state["positions"]), dx = gather(tangent["positions"]);
    Moving moving{{}, move_along(placement(parameters), read_placement(direction, joint, {}))};
    for (std::size_t k = 0; k < 8; ++k)
      for (int c = 0; c < 3; ++c) {
        moving.x[k][c] = Along(x[k][c]);
        moving.x[k][c].derivative[0] = dx[k][c];
      }
    return moving;
  }
  /// Returns the residual with its derivatives with respect to the placement. T is double or Along.
  template <class T>
  ByPlacement<T> by_placement(const Vec3<T> (&x)[8], const body::PlacementOf<T>& placement, double target) const {
    Vec3<ByPlacement<T>> constant[8], unused[8];
    for (std::size_t k = 0; k < 8; ++k)
      for (int c = 0; c < 3; ++c) constant[k][c] = ByPlacement<T>::constant(x[k][c]);
    return residual(constant, body::variables(placement), target, unused);
  }
  /// Adds the derivatives `sums` with respect to the placement to `set`, on the first rank.
  void add(const Placement& sums, ParameterSet& set) const {
    if (rank == 0) add_to_placement(set, joint, sums);
  }
};

JointLoss::JointLoss(const TetrahedralMesh& mesh, const Joint& joint, std::map<int, double> targets)
    : comm_(mesh.comm()),
      targets_(std::move(targets)),
      nodes_(new Nodes{body::find_joint_nodes(mesh, joint), joint, comm_, rank_of(comm_)}) {
  if (targets_.empty()) throw Error("joint '" + joint.name + "' has no target at any step", ErrorKind::input);
}

JointLoss::~JointLoss() = default;

std::string JointLoss::unit() const { return nodes_->of.geometry.is_rotation ? "rad²" : "m²"; }

double JointLoss::value(int n, const State& state, const ParameterSet& parameters) {
  Vec3<double> gradient[8];
  const double r = nodes_->at(state, parameters, targets_.at(n), gradient);
  return is_first_rank(comm_) ? 0.5 * r * r / static_cast<double>(targets_.size()) : 0.0;
}

double JointLoss::tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                          const ParameterSet& direction) {
  Vec3<Along> gradient[8];
  const Nodes::Moving moving = nodes_->moving(state, parameters, tangent, direction);
  const Along r = nodes_->residual(moving.x, moving.placement, targets_.at(n), gradient);
  return is_first_rank(comm_) ? r.value * r.derivative[0] / static_cast<double>(targets_.size()) : 0.0;
}

void JointLoss::add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                             ParameterSet& gradient) {
  Vec3<double> by_nodes[8], x[8];
  const double r = nodes_->at(state, parameters, targets_.at(n), by_nodes) / static_cast<double>(targets_.size());
  std::array<Vec3<double>, 8> vectors;
  for (std::size_t k = 0; k < 8; ++k) vectors[k] = r * by_nodes[k];
  nodes_->add(vectors, adjoint["positions"]);
  if (!has_placement(gradient, nodes_->joint)) return;
  const std::array<Vec3<double>, 8> at = nodes_->gather(state["positions"]);
  std::copy(at.begin(), at.end(), x);
  const ByPlacement<double> q = nodes_->by_placement(x, nodes_->placement(parameters), targets_.at(n));
  Placement sums;
  for (std::size_t i = 0; i < 6; ++i) sums[i] = r * q.derivative[i];
  nodes_->add(sums, gradient);
}

void JointLoss::add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                     const ParameterSet& direction, State& adjoint_tangent,
                                     ParameterSet& gradient_tangent) {
  Vec3<Along> gradient[8];
  const Nodes::Moving moving = nodes_->moving(state, parameters, tangent, direction);
  const Along r = (1.0 / static_cast<double>(targets_.size())) *
                  nodes_->residual(moving.x, moving.placement, targets_.at(n), gradient);
  std::array<Vec3<double>, 8> vectors;
  for (std::size_t k = 0; k < 8; ++k)
    for (int c = 0; c < 3; ++c) vectors[k][c] = (r * gradient[k][c]).derivative[0];
  nodes_->add(vectors, adjoint_tangent["positions"]);
  if (!has_placement(gradient_tangent, nodes_->joint)) return;
  const ByPlacement<Along> q = nodes_->by_placement(moving.x, moving.placement, targets_.at(n));
  Placement sums;
  for (std::size_t i = 0; i < 6; ++i) sums[i] = (r * q.derivative[i]).derivative[0];
  nodes_->add(sums, gradient_tangent);
}

void JointLoss::add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                 const ParameterSet& direction, State& adjoint, ParameterSet& gradient) {
  Vec3<Along> by_nodes[8];
  const Nodes::Moving moving = nodes_->moving(state, parameters, tangent, direction);
  const Along r = nodes_->residual(moving.x, moving.placement, targets_.at(n), by_nodes);
  const double change = r.derivative[0] / static_cast<double>(targets_.size());
  std::array<Vec3<double>, 8> vectors;
  for (std::size_t k = 0; k < 8; ++k)
    for (int c = 0; c < 3; ++c) vectors[k][c] = change * by_nodes[k][c].value;
  nodes_->add(vectors, adjoint["positions"]);
  if (!has_placement(gradient, nodes_->joint)) return;
  const ByPlacement<Along> q = nodes_->by_placement(moving.x, moving.placement, targets_.at(n));
  Placement sums;
  for (std::size_t i = 0; i < 6; ++i) sums[i] = change * q.derivative[i].value;
  nodes_->add(sums, gradient);
}

}  // namespace diffsim
