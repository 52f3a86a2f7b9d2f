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
    const double sign = value_of(y) < 0.0 ? -1.0 : 1.0;
    return sign * value_of(y) < 1.0 ? y * (T(2.0) - T(sign) * y) : T(sign);
  }
  /// Returns the derivative of `friction_factor` with respect to `rate`.
  template <class T>
  DIFFSIM_FUNCTION T friction_slope(const T& rate) const {
    const T y = T(1.0 / friction_velocity) * rate;
    const double sign = value_of(y) < 0.0 ? -1.0 : 1.0;
    return sign * value_of(y) < 1.0 ? T(2.0 / friction_velocity) * (T(1.0) - T(sign) * y) : T(0.0);
  }
  /// Returns the barrier force B(d) of JointDrive at the distance d of the joint's coordinate from a limit. The barrier
  /// force is NaN if the joint's coordinate is at or beyond the limit (d ≤ 0).
  template <class T>
  DIFFSIM_FUNCTION T limit_force(const T& d) const {
    using std::log;
    if (!(value_of(d) < limit_distance)) return T(0.0);
    if (!(value_of(d) > 0.0)) return T(std::numeric_limits<double>::quiet_NaN());
    const T missing = T(limit_distance) - d;
    return missing * missing / d - T(2.0) * missing * log(T(1.0 / limit_distance) * d);
  }
  /// Returns the derivative dB/dd of `limit_force`.
  template <class T>
  DIFFSIM_FUNCTION T limit_slope(const T& d) const {
    using std::log;
    if (!(value_of(d) < limit_distance)) return T(0.0);
    if (!(value_of(d) > 0.0)) return T(std::numeric_limits<double>::quiet_NaN());
    const T ratio = (T(limit_distance) - d) / d;
    return T(2.0) * log(T(1.0 / limit_distance) * d) - ratio * (T(4.0) + ratio);
  }

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    const T &torque = at.p[0], &stiffness = at.p[1], &damping = at.p[2], &target = at.p[3], &friction = at.p[4],
            &limit_stiffness = at.p[5];
    Vec3<T> gradient[num_nodes];
    const JointCoordinateOf<T> coordinate = geometry.at(at.vector(6), at.vector(9));
    const T q = coordinate(at.x, gradient), rate = along(gradient, at.v);
    const T Q = torque + stiffness * coordinate.behind(target, q) - damping * rate - friction * friction_factor(rate) +
                limit_stiffness * (limit_force(q - T(lower)) - limit_force(T(upper) - q));
    for (int k = 0; k < num_nodes; ++k) f[k] = Q * gradient[k];
  }

  /// Sets `by` to the derivatives of the work W = Q ∇q·w of the forces along the constant node vectors `w`, with
  /// respect to the positions x, the velocities v and the parameters. With the constants
  ///   c = (∇q·w) ∂Q/∂q,   u = (∇q·w) ∂Q/∂(dq/dt) v + Q w,
  /// the derivatives of W with respect to x and to the joint's point and axis equal those of c q + ∇q·u.
  template <class T>
  DIFFSIM_FUNCTION void work_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                         const Vec3<T> (&w)[num_nodes],
                                         StencilValues<T, num_nodes, num_values>& by) const {
    const T &torque = at.p[0], &stiffness = at.p[1], &damping = at.p[2], &target = at.p[3], &friction = at.p[4],
            &limit_stiffness = at.p[5];
    Vec3<T> gradient[num_nodes];
    const JointCoordinateOf<T> coordinate = geometry.at(at.vector(6), at.vector(9));
    const T q = coordinate(at.x, gradient), rate = along(gradient, at.v), along_w = along(gradient, w);
    const T behind = coordinate.behind(target, q), from_lower = q - T(lower), from_upper = T(upper) - q;
    const T factor = friction_factor(rate), limits = limit_force(from_lower) - limit_force(from_upper);
    const T Q = torque + stiffness * behind - damping * rate - friction * factor + limit_stiffness * limits;
    by.p[0] = along_w;
    by.p[1] = along_w * behind;
    by.p[2] = -(along_w * rate);
    by.p[3] = along_w * stiffness;
    by.p[4] = -(along_w * factor);
    by.p[5] = along_w * limits;
    const T by_q = along_w * (limit_stiffness * (limit_slope(from_lower) + limit_slope(from_upper)) - stiffness);
    const T by_rate = -(along_w * (damping + friction * friction_slope(rate)));
    Vec3<T> u[num_nodes];
    for (int k = 0; k < num_nodes; ++k) {
      u[k] = by_rate * at.v[k] + Q * w[k];
      by.v[k] = by_rate * gradient[k];
    }
    add_geometry(at, coordinate, gradient, by_q, u, by);
  }

 private:
  /// Returns the sum Σ_k a_k·b_k over the nodes k.
  template <class T>
  static DIFFSIM_FUNCTION T along(const Vec3<T> (&a)[num_nodes], const Vec3<T> (&b)[num_nodes]) {
    T sum = dot(a[0], b[0]);
    for (int k = 1; k < num_nodes; ++k) sum = sum + dot(a[k], b[k]);
    return sum;
  }
  /// Sets `by.x` and the derivatives in `by.p` with respect to the placement to the derivatives of `factor` q + ∇q·u,
  /// where `factor` and the node vectors u are constant. `gradient`: ∇q.
  template <class T>
  DIFFSIM_FUNCTION void add_geometry(const StencilValues<T, num_nodes, num_values>& at,
                                     const JointCoordinateOf<T>& coordinate, const Vec3<T> (&gradient)[num_nodes],
                                     const T& factor, const Vec3<T> (&u)[num_nodes],
                                     StencilValues<T, num_nodes, num_values>& by) const {
    using AlongU = Dual<T, 1>;
    using ByPlacement = Dual<T, 6>;
    Vec3<AlongU> x_along_u[num_nodes], gradient_along_u[num_nodes];
    Vec3<ByPlacement> x[num_nodes], gradient_by_placement[num_nodes], placement[2];
    for (int k = 0; k < num_nodes; ++k)
      for (int c = 0; c < 3; ++c) {
        x_along_u[k][c].value = at.x[k][c];
        x_along_u[k][c].derivative[0] = u[k][c];
        x[k][c] = ByPlacement::constant(at.x[k][c]);
      }
    for (int i = 0; i < 6; ++i) placement[i / 3][i % 3] = ByPlacement::variable(at.p[6 + i], i);
    coordinate(x_along_u, gradient_along_u);
    const ByPlacement q = geometry.at(placement[0], placement[1])(x, gradient_by_placement);
    for (int i = 0; i < 6; ++i) by.p[6 + i] = factor * q.derivative[i];
    for (int k = 0; k < num_nodes; ++k)
      for (int c = 0; c < 3; ++c) {
        by.x[k][c] = factor * gradient[k][c] + gradient_along_u[k][c].derivative[0];
        for (int i = 0; i < 6; ++i) by.p[6 + i] += gradient_by_placement[k][c].derivative[i] * u[k][c];
      }
  }
};

}  // namespace diffsim::body
