// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "contact/barrier.hpp"
#include "contact/friction.hpp"
#include "contact/penalty.hpp"
#include "contact/turn.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/point_force.hpp"

namespace diffsim::contact {

/// Contact force of a plane on a vertex, proportional to the area weight of the vertex. On a surface of triangles, the
/// area weight is a third of the sum of the areas of the vertex's triangles. On a line, the area weight is half of the
/// sum of the lengths of the vertex's segments; in contact, a line counts as a strip of width d̂/2, where d̂ is the
/// barrier distance. In a body of points, the area weight is the number of cells that consist of this vertex, normally
/// 1; in contact, a point counts as a patch of d̂/2 by d̂/2. The template argument `thick` is true if the plane or the
/// body has a thickness parameter; the array `PointValues::p` then contains the thicknesses of the plane and of the
/// body.
template <bool thick>
struct PlaneForce {
  /// Offsets of the values of the plane's parameters in the array `PointValues::p`.
  enum Number { position = 0, velocity = 3, stiffness = 6, range, mu, epsilon, damping, angular_velocity, thickness };
  static constexpr int num_values = thickness + (thick ? 2 : 0);
  template <class T>
  using At = PointValues<T, num_values>;

  Vec3<double> normal;  // unit vector, at t = 0
  Turn turn;
  bool uses_velocities;     // true: the force includes friction and damping
  bool pushes = true;       // false: the force is friction and damping alone
  int codimension = 0;      // 0 on surfaces of triangles, 1 on lines, 2 in bodies of points
  bool is_penalty = false;  // true: the contact law is a penalty (contact/penalty.hpp)

  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> normal_at(const At<T>& at) const {
    if (turn.turns) return rotated(turn.axis, T(at.p[angular_velocity] * at.time), normal);
    return {{T(normal[0]), T(normal[1]), T(normal[2])}};
  }
  /// Position y of the vertex relative to the plane's rotation axis: y = x - o - t V, where x is the position of the
  /// vertex, o is a point on the axis at t = 0 and V is the plane's velocity. Without a rotation axis, y = x - p - t V,
  /// where p is a point on the plane at t = 0.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> relative_position(const At<T>& at) const {
    Vec3<T> y;
    for (int c = 0; c < 3; ++c) {
      const T begin = turn.turns ? T(turn.origin[c]) : at.p[position + c];
      y[c] = at.x[c] - begin - at.time * at.p[velocity + c];
    }
    return y;
  }
  /// Height φ of the vertex above the plane, in m; negative inside the half-space.
  template <class T>
  KOKKOS_INLINE_FUNCTION T height(const At<T>& at) const {
    const Vec3<T> n = normal_at(at), y = relative_position(at);
    T h = T(0.0);
    for (int c = 0; c < 3; ++c) h = h + n[c] * y[c];
    // The offset of the plane from the axis does not change with the rotation.
    if (turn.turns)
      for (int c = 0; c < 3; ++c) h = h - normal[c] * (at.p[position + c] - turn.origin[c]);
    return h;
  }
  /// Thickness ξ (m): the mean of the thicknesses of the plane and of the body.
  template <class T>
  KOKKOS_INLINE_FUNCTION auto offset(const At<T>& at) const {
    if constexpr (thick)
      return 0.5 * (at.p[thickness] + at.p[thickness + 1]);
    else
      return 0.0;
  }
  /// Gap φ - ξ, in m: the height φ of the vertex above the plane minus the thickness ξ.
  KOKKOS_INLINE_FUNCTION double gap(const At<double>& at) const { return height(at) - offset(at); }
  /// Velocity of the vertex relative to the plane.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> relative_velocity(const At<T>& at) const {
    Vec3<T> u;
    for (int c = 0; c < 3; ++c) u[c] = at.v[c] - at.p[velocity + c];
    if (!turn.turns) return u;
    const Vec3<T> side = cross_axis(turn.axis, relative_position(at));
    for (int c = 0; c < 3; ++c) u[c] = u[c] - at.p[angular_velocity] * side[c];
    return u;
  }
  /// Sliding velocity: the component, parallel to the plane with the unit normal n, of the velocity of the vertex
  /// relative to the plane.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> sliding_velocity(const At<T>& at, const Vec3<T>& n) const {
    Vec3<T> u = relative_velocity(at);
    T along = T(0.0);
    for (int c = 0; c < 3; ++c) along = along + n[c] * u[c];
    for (int c = 0; c < 3; ++c) u[c] = u[c] - n[c] * along;
    return u;
  }
  /// Fraction of the vertex's motion from `before` to `after` over which the gap g, the height above the plane minus
  /// the thickness, provably stays positive; 0 if the gap is not positive at the start of the motion. For s from 0 to 1
  /// the vertex moves along a straight line, and the plane turns at a constant rate by the angle θ. The gap g of the
  /// vertex satisfies
  ///   g(s) ≥ g(0) + s (g(1) - g(0)) - B s (1 - s)/2,  B = θ² |y| + 2 |θ| |y'| ≥ |g''|,
  /// where y(s) is the position of the vertex relative to a point on the axis, |y| is the largest length of y(s), and
  /// y' = dy/ds.
  KOKKOS_INLINE_FUNCTION double safe_part(const At<double>& before, const At<double>& after) const {
    const double begin = gap(before), end = gap(after);
    double bend = 0.0;
    if (turn.turns) {
      const Vec3<double> here = relative_position(before), there = relative_position(after);
      const double angle = std::abs(after.p[angular_velocity] * (after.time - before.time));
      const double reach = std::sqrt(std::fmax(dot(here, here), dot(there, there)));
      bend = angle * angle * reach + 2.0 * angle * std::sqrt(dot(there - here, there - here));
    }
    const double a = 0.5 * bend, b = end - begin - a;  // coefficients of the bound g(0) + b s + a s²
    const double least = b < 0.0 && -b < 2.0 * a ? begin - 0.25 * b * b / a : end;
    if (least > 0.0 && begin > 0.0) return 1.0;
    // The result is the smallest root s of g(0) + b s + a s² = 0.1 g(0), so that a tenth of the initial gap remains.
    const double c = 0.9 * begin, rest = b * b - 4.0 * a * c;
    if (begin > 0.0 && rest < 0.0) return 1.0;
    return begin > 0.0 && b < 0.0 ? 2.0 * c / (-b + std::sqrt(rest)) : 0.0;
  }

  /// Returns true if the plane exerts a force on the vertex: if the gap is less than the barrier distance and, unless
  /// the contact law is a penalty, positive.
  KOKKOS_INLINE_FUNCTION bool active(const At<double>& at) const {
    const double g = gap(at);
    return (g > 0.0 || is_penalty) && g < at.p[range];
  }
  /// Product κ (d̂/2)^codimension of the barrier stiffness κ and the widths d̂/2 of the strip or patch that represents
  /// a line or a point in contact.
  template <class T>
  KOKKOS_INLINE_FUNCTION T strength(const T& kappa, const T& d_hat) const {
    T result = kappa;
    for (int k = 0; k < codimension; ++k) result = 0.5 * result * d_hat;
    return result;
  }
  KOKKOS_INLINE_FUNCTION double energy(const At<double>& at) const {
    if (!pushes) return 0.0;
    const double h = height(at), scale = strength(at.p[stiffness], at.p[range]) * at.weight;
    if (!is_penalty) return scale * Barrier(h * h, at.p[range], offset(at)).value;
    const double r = compression(h - offset(at), at.p[range]);
    return r > 0.0 ? scale * at.p[range] * r * r * r / 3.0 : 0.0;
  }
  /// Normal force N = -κ (d̂/2)^codimension w ∂ψ/∂φ, with the barrier stiffness κ, the barrier distance d̂, the thickness
  /// ξ, the area weight w and the height φ of the vertex, and the barrier ψ = d̂ b(y) with the argument y
  /// (contact/barrier.hpp): ∂ψ/∂φ = 2 φ b'(y)/(d̂ + 2 ξ). For a penalty, ∂ψ/∂φ = -r² with r = 1 - (φ - ξ)/d̂
  /// (contact/penalty.hpp).
  template <class T>
  KOKKOS_INLINE_FUNCTION T normal_force(const At<T>& at) const {
    const T h = height(at);
    if (is_penalty) {
      const T r = compression(T(h - offset(at)), at.p[range]);
      return at.weight * strength(at.p[stiffness], at.p[range]) * r * r;
    }
    const T y = barrier_argument(T(h * h), at.p[range], offset(at));
    const T reach = at.p[range] + 2.0 * offset(at);
    return -2.0 * at.weight * strength(at.p[stiffness], at.p[range]) * h * barrier_gradient(y) / reach;
  }
  /// Dissipation potential D = µ N S(|u|) + N P(c dg/dt)/c of friction and damping, in W, with the Coulomb coefficient
  /// µ, the normal force N, the sliding velocity u, the function S of `friction_potential`, the damping c, the rate
  /// dg/dt of the gap and the function P of `damping_potential`.
  KOKKOS_INLINE_FUNCTION double dissipation(const At<double>& at) const {
    const Vec3<double> n = normal_at(at), u = sliding_velocity(at, n);
    const double of_friction = at.p[mu] * friction_potential(std::sqrt(dot(u, u)), at.p[epsilon]);
    const double c = at.p[damping];
    const double of_damping = is_penalty && c > 0.0 ? damping_potential(c * dot(n, relative_velocity(at))) / c : 0.0;
    return normal_force(at) * (of_friction + of_damping);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> force(const At<T>& at) const {
    const T push = normal_force(at);
    const Vec3<T> n = normal_at(at);
    Vec3<T> f;
    for (int c = 0; c < 3; ++c) f[c] = pushes ? n[c] * push : T(0.0);
    if (!uses_velocities) return f;
    const Vec3<T> u = sliding_velocity(at, n);
    T squared = T(0.0);
    for (int c = 0; c < 3; ++c) squared = squared + u[c] * u[c];
    const T factor = at.p[mu] * push * friction_factor(squared, at.p[epsilon]);
    for (int c = 0; c < 3; ++c) f[c] = f[c] - factor * u[c];
    if (!is_penalty) return f;
    const T lost = push * damping_factor(T(at.p[damping] * dot(n, relative_velocity(at))));
    for (int c = 0; c < 3; ++c) f[c] = f[c] - lost * n[c];
    return f;
  }
  /// Force without friction and damping, which are omitted because their derivatives with respect to the position are
  /// not symmetric. For the remaining force f, -∂f/∂x is positive semidefinite, because the barrier and the penalty are
  /// convex functions of the vertex's height above the plane.
  KOKKOS_INLINE_FUNCTION PlaneForce projected() const { return {normal, turn, false, pushes, codimension, is_penalty}; }
};

}  // namespace diffsim::contact
