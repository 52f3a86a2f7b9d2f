// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "body/joint_coordinate.hpp"
#include "body/node_vectors.hpp"
#include "diffsim/body/joint.hpp"

namespace diffsim::body {

/// Constraint g(x) = 0 between the coordinate q of a joint (the follower) and the coordinate q' of the joint that the
/// follower follows (the leader, `Joint::follows`), for example of two gears:
///   g(x) = α (q - q₀) - β (q' - q₀'),   α/β = 1/ratio,
/// where q₀ and q₀' are the coordinates at the rest positions. A coordinate that is a rotation is known only modulo 2π.
/// If only one coordinate is a rotation, its weight α or β is 1, so that a full turn changes g by 2π, and g is reduced
/// modulo 2π to [-π, π]. If both coordinates are rotations and ratio = β/α for integers β and α, 1 ≤ α ≤ 50, these
/// integers are the weights, and g is reduced modulo 2π. For two rotations with any other ratio, g is not reduced, and
/// both coordinates must stay within π of their values at the rest positions.
///
/// Unlike the constraint functions of Constraint, g has second derivatives that depend on the positions.
///
/// The scalar type S is double, or a Dual if the coordinates or the ratio depend on parameters. The derivative of g
/// with respect to the ratio is -α (q' - q₀') for α independent of the ratio, with the coordinate q' modulo 2π that
/// `leader` computes; if both coordinates are rotations, this derivative is only right while q' is within π of q₀'
/// (`has_known_turns`).
template <class S>
struct JointCouplingOf {
  static constexpr int num_nodes = 2 * JointCoordinate::num_nodes;
  template <class T>
  using NodeValues = std::array<Vec3<T>, num_nodes>;

  JointCoordinateOf<S> follower;  ///< coordinate q - q₀ of the follower, that is, with `JointCoordinate::start` = 0
  JointCoordinateOf<S> leader;    ///< coordinate q' - q₀' of the leader, also with `JointCoordinate::start` = 0
  std::array<int, num_nodes> nodes;  ///< nodes of the follower, then nodes of the leader; a node may occur twice
  S alpha, beta;                     ///< weights α and β
  bool is_periodic;                  ///< true if g is reduced modulo 2π

  /// Returns g, and sets `gradient` to the derivatives with respect to the positions of `nodes`, at the positions `x`
  /// of `nodes`.
  template <class T>
  T evaluate(const NodeValues<T>& x, NodeValues<T>& gradient) const {
    constexpr int half = JointCoordinate::num_nodes;
    Vec3<T> of_follower[half], of_leader[half];
    const T q = follower(x.data(), of_follower), p = leader(x.data() + half, of_leader);
    const T a = lift<T>(alpha), b = lift<T>(beta);
    for (int k = 0; k < half; ++k) {
      gradient[static_cast<std::size_t>(k)] = a * of_follower[k];
      gradient[static_cast<std::size_t>(half + k)] = -b * of_leader[k];
    }
    const T g = a * q - b * p;
    constexpr double turn = 2.0 * std::numbers::pi;
    return is_periodic ? g - turn * std::round(value_of(g) / turn) : g;
  }
  /// Returns the values of `vectors` at `nodes`.
  template <class T>
  NodeValues<T> at_nodes(const NodeVectors<T>& vectors) const {
    NodeValues<T> values;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = vectors[static_cast<std::size_t>(nodes[k])];
    return values;
  }
  /// Returns ∇²g(x) w at `nodes`, with the second derivatives of g at the positions `x` of `nodes`.
  template <class T>
  NodeValues<T> hessian_product(const NodeValues<T>& x, const NodeValues<T>& w) const {
    using Moving = Dual<T, 1>;
    NodeValues<Moving> at, gradient;
    for (std::size_t k = 0; k < x.size(); ++k)
      for (int c = 0; c < 3; ++c) {
        at[k][c] = Moving::constant(x[k][c]);
        at[k][c].derivative[0] = w[k][c];
      }
    evaluate(at, gradient);
    NodeValues<T> product;
    for (std::size_t k = 0; k < x.size(); ++k)
      for (int c = 0; c < 3; ++c) product[k][c] = gradient[k][c].derivative[0];
    return product;
  }
};

using JointCoupling = JointCouplingOf<double>;

/// Weights α and β of a JointCouplingOf, and whether g is reduced modulo 2π.
template <class S>
struct CouplingWeightsOf {
  S alpha, beta;
  bool is_periodic;
};
using CouplingWeights = CouplingWeightsOf<double>;
/// Returns the weights α and β for the given ratio. `turns`: true if the follower's coordinate is a rotation.
/// `leader_turns`: true if the leader's coordinate is a rotation.
CouplingWeights coupling_weights(double ratio, bool turns, bool leader_turns);
/// Returns the weights of `coupling_weights` with their derivatives, for a ratio of the type double or Dual. If only
/// the leader's coordinate is a rotation, the derivatives are those of α = 1/ratio with constant β = 1; otherwise, the
/// derivatives are those of β = α ratio with constant α.
template <class S>
CouplingWeightsOf<S> weights_at(const S& ratio, bool turns, bool leader_turns) {
  const auto [alpha, beta, is_periodic] = coupling_weights(value_of(ratio), turns, leader_turns);
  if (!turns && leader_turns) return {S(1.0) / ratio, S(beta), is_periodic};
  return {S(alpha), S(beta) + S(alpha) * (ratio - S(value_of(ratio))), is_periodic};
}

/// Follower and leader of a JointCoupling, for any placements of the two joints and any ratio.
struct CoupledJoints {
  std::array<Joint, 2> joints;                      ///< follower, leader
  std::array<JointGeometry, 2> geometry;            ///< geometries of the follower and the leader
  std::array<int, JointCoupling::num_nodes> nodes;  ///< as in JointCouplingOf

  /// Returns true if both coordinates are rotations.
  bool turns() const { return geometry[0].is_rotation && geometry[1].is_rotation; }
  /// Returns the constraint between the coordinates of the joints at the given placements and ratio.
  template <class S>
  JointCouplingOf<S> at(const PlacementOf<S>& of_joint, const PlacementOf<S>& of_leader, const S& ratio) const {
    const CouplingWeightsOf<S> weights = weights_at(ratio, geometry[0].is_rotation, geometry[1].is_rotation);
    JointCouplingOf<S> coupling{coordinate_at(geometry[0], of_joint),
                                coordinate_at(geometry[1], of_leader),
                                nodes,
                                weights.alpha,
                                weights.beta,
                                weights.is_periodic};
    coupling.follower.start = coupling.leader.start = 0.0;
    return coupling;
  }
};

/// Returns the change of g at the positions `x` if whole turns are added to both coordinates such that the coordinates
/// differ by at most π from those at the positions `start`. Returns 0 if g is reduced modulo 2π or if a coordinate is a
/// translation.
double whole_turns(const JointCoupling& coupling, const NodeVectors<double>& start, const NodeVectors<double>& x);
/// Returns true if the whole turns of both coordinates of `coupling` are known to be zero at the positions `after`,
/// provided that they are zero at the positions `before`, from which a time step leads to `after`: neither coordinate
/// has passed ±π, and g without a reduction modulo 2π is less than π. Both coordinates must be rotations.
bool has_known_turns(const JointCoupling& coupling, const NodeVectors<double>& before,
                     const NodeVectors<double>& after);

/// Throws Error (input) unless `joint` can follow the joint `leader`: both joints must be revolute or prismatic, and
/// `joint.ratio` finite and not zero.
void require_coupling(const Joint& joint, const Joint& leader);

}  // namespace diffsim::body
