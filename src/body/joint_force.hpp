// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "body/joint_coordinate.hpp"
#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim::body {

/// Force of a driven joint (JointDrive) on the four nodes of `Joint::body` and the four nodes of `Joint::other`. With
/// the generalised force Q on the joint's coordinate q, the force on node k is Q ∂q/∂x_k, where x_k is the position of
/// the node, and the power of the forces on all nodes is Q dq/dt. The parameters of a JointForce are, in this order:
/// torque, stiffness, damping, target, friction, limit stiffness, the joint's point and its axis.
struct JointForce {
  static constexpr int num_nodes = 8, num_values = 12;
  static constexpr bool uses_velocities = true;

  JointGeometry geometry;
  double friction_velocity, lower, upper, limit_distance;  ///< as in JointDrive

  /// Returns s(rate / friction_velocity) with the friction function s of JointDrive. `rate`: time derivative dq/dt of
  /// the joint's coordinate q.
  template <class T>
  DIFFSIM_FUNCTION T friction_factor(const T& rate) const {
    const T y = T(1.0 / friction_velocity) * rate;
    const double sign = plain_value(y) < 0.0 ? -1.0 : 1.0;
    return sign * plain_value(y) < 1.0 ? y * (T(2.0) - T(sign) * y) : T(sign);
  }
  /// Returns the barrier force B(d) of JointDrive at the distance d of the joint's coordinate from a limit. The barrier
  /// force is NaN if the joint's coordinate is at or beyond the limit (d ≤ 0).
  template <class T>
  DIFFSIM_FUNCTION T limit_force(const T& d) const {
    using std::log;
    if (!(plain_value(d) < limit_distance)) return T(0.0);
    if (!(plain_value(d) > 0.0)) return T(std::numeric_limits<double>::quiet_NaN());
    const T missing = T(limit_distance) - d;
    return missing * missing / d - T(2.0) * missing * log(T(1.0 / limit_distance) * d);
  }

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    const T &torque = at.p[0], &stiffness = at.p[1], &damping = at.p[2], &target = at.p[3], &friction = at.p[4],
            &limit_stiffness = at.p[5];
    Vec3<T> gradient[num_nodes];
    const JointCoordinateOf<T> coordinate = geometry.at(at.vector(6), at.vector(9));
    const T q = coordinate(at.x, gradient);
    T rate(0.0);
    for (int k = 0; k < num_nodes; ++k) rate = rate + dot(gradient[k], at.v[k]);
    const T Q = torque + stiffness * coordinate.behind(target, q) - damping * rate - friction * friction_factor(rate) +
                limit_stiffness * (limit_force(q - T(lower)) - limit_force(T(upper) - q));
    for (int k = 0; k < num_nodes; ++k) f[k] = Q * gradient[k];
  }
};

}  // namespace diffsim::body
