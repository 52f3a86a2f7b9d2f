// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim::body {

/// Vector that is an affine function of the positions x_k of the four nodes of a body: constant + Σ_k w_k x_k, with the
/// weights w_k.
struct BodyVector {
  double weights[4];
  double constant[3];

  template <class T>
  DIFFSIM_FUNCTION Vec3<T> operator()(const Vec3<T>* x) const {
    Vec3<T> sum = rate(x);
    for (int c = 0; c < 3; ++c) sum[c] = sum[c] + constant[c];
    return sum;
  }
  /// Returns the time derivative of the BodyVector, Σ_k w_k v_k, with the velocities v_k of the nodes and the weights
  /// w_k.
  template <class T>
  DIFFSIM_FUNCTION Vec3<T> rate(const Vec3<T>* v) const {
    Vec3<T> sum = T(weights[0]) * v[0];
    for (int k = 1; k < 4; ++k) sum = sum + T(weights[k]) * v[k];
    return sum;
  }
  /// Adds the product w_k g of the vector `g` with `weights[k]` = w_k to `f[k]`, for each node k. If g is the gradient
  /// of a function of a BodyVector with the weights w_k, w_k g is the derivative of this function with respect to the
  /// position of node k.
  template <class T>
  DIFFSIM_FUNCTION void add(const Vec3<T>& g, Vec3<T>* f) const {
    for (int k = 0; k < 4; ++k) f[k] = f[k] + T(weights[k]) * g;
  }
};

DIFFSIM_FUNCTION double angle(double sine, double cosine) {
  using std::atan2;
  return atan2(sine, cosine);
}
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> angle(const Dual<T, N>& sine, const Dual<T, N>& cosine) {
  const T square = sine.value * sine.value + cosine.value * cosine.value;
  Dual<T, N> result = Dual<T, N>::constant(angle(sine.value, cosine.value));
  for (int i = 0; i < N; ++i)
    result.derivative[i] = (cosine.value * sine.derivative[i] - sine.value * cosine.derivative[i]) / square;
  return result;
}
DIFFSIM_FUNCTION double plain_value(double x) { return x; }
template <class T, int N>
DIFFSIM_FUNCTION double plain_value(const Dual<T, N>& x) {
  return plain_value(x.value);
}

/// Force of a driven joint (JointDrive) on the four nodes of `Joint::body` and the four nodes of `Joint::other`. With
/// the generalised force Q on the joint's coordinate q, the force on node k is Q ∂q/∂x_k, where x_k is the position of
/// the node, and the power of the forces on all nodes is Q dq/dt. The parameters of a JointForce are, in this order:
/// torque, stiffness, damping, target, friction and limit stiffness.
///
/// The coordinate of a revolute joint is q = q₀ + atan2(e·f', e·e'), where q₀ is the coordinate at the rest positions,
/// e is a direction fixed to `Joint::body`, and e' and f' are directions fixed to `Joint::other`; at the rest
/// positions, e = e', and (axis, e', f') is an orthonormal basis.
///
/// The coordinate of a prismatic joint is q = q₀ + a'·(p - p'), where q₀ is the coordinate at the rest positions, p and
/// p' are the positions of the joint's point as a point of `Joint::body` and as a point of `Joint::other`, and a' is
/// the unit direction of the axis, fixed to `Joint::other`.
struct JointForce {
  static constexpr int num_nodes = 8, num_values = 6;
  static constexpr bool uses_velocities = true;

  bool is_rotation;
  BodyVector own;                                          ///< rotation: e; translation: p
  BodyVector other_point;                                  ///< translation: p'
  BodyVector first;                                        ///< rotation: e'; translation: a'
  BodyVector second;                                       ///< rotation: f'
  double start;                                            ///< coordinate q₀ of the joint at the rest positions
  double friction_velocity, lower, upper, limit_distance;  ///< as in JointDrive

  /// Returns the joint's coordinate q at the positions x of the nodes, and sets gradient[k] to ∂q/∂x_k for each node k.
  template <class T>
  DIFFSIM_FUNCTION T coordinate(const Vec3<T>* x, Vec3<T> (&gradient)[num_nodes]) const {
    const Vec3<T> zero{{T(0.0), T(0.0), T(0.0)}};
    for (int k = 0; k < num_nodes; ++k) gradient[k] = zero;
    if (is_rotation) {
      const Vec3<T> e = own(x), e1 = first(x + 4), f1 = second(x + 4);
      const T sine = dot(e, f1), cosine = dot(e, e1), inverse = T(1.0) / (sine * sine + cosine * cosine);
      const T by_sine = cosine * inverse, by_cosine = -(sine * inverse);
      own.add(by_sine * f1 + by_cosine * e1, gradient);
      first.add(by_cosine * e, gradient + 4);
      second.add(by_sine * e, gradient + 4);
      return T(start) + angle(sine, cosine);
    }
    const Vec3<T> d = own(x) - other_point(x + 4), a = first(x + 4);
    own.add(a, gradient);
    other_point.add(T(-1.0) * a, gradient + 4);
    first.add(d, gradient + 4);
    return T(start) + dot(d, a);
  }
  /// Returns target - q, the difference between the target and the joint's coordinate q. For revolute joints, the
  /// difference target - q is reduced modulo 2π to [-π, π).
  template <class T>
  DIFFSIM_FUNCTION T behind(const T& target, const T& q) const {
    const T difference = target - q;
    if (!is_rotation) return difference;
    constexpr double turn = 2.0 * std::numbers::pi;
    return difference - turn * std::floor(plain_value(difference) / turn + 0.5);
  }

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
    const T q = coordinate(at.x, gradient);
    T rate(0.0);
    for (int k = 0; k < num_nodes; ++k) rate = rate + dot(gradient[k], at.v[k]);
    const T Q = torque + stiffness * behind(target, q) - damping * rate - friction * friction_factor(rate) +
                limit_stiffness * (limit_force(q - T(lower)) - limit_force(T(upper) - q));
    for (int k = 0; k < num_nodes; ++k) f[k] = Q * gradient[k];
  }
};

}  // namespace diffsim::body
