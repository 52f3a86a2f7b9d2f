// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/contact/barrier.hpp"
#include "diffsim/contact/friction.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/point_force.hpp"
#include "turn.hpp"

namespace diffsim::contact {

/// Force of a plane on a vertex. The weight of a vertex is its measure at rest: an area; of a line half of its
/// segments' lengths, of a lone point 1, which touch with a strip d̂/2 wide and with a patch d̂/2 wide and long.
struct PlaneForce {
  /// Places of the parameters' numbers.
  enum Number { position = 0, velocity = 3, stiffness = 6, range, mu, epsilon, angular_velocity, num_values };
  template <class T>
  using At = PointValues<T, num_values>;

  Vec3<double> normal;  // at t = 0
  Turn turn;
  bool uses_velocities;  // for friction
  bool pushes = true;    // else the force is friction's alone
  int codimension = 0;   // 1 for a vertex of a line, 2 for a lone point

  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> normal_at(const At<T>& at) const {
    if (turn.turns) return rotated(turn.axis, T(at.p[angular_velocity] * at.time), normal);
    return {{T(normal[0]), T(normal[1]), T(normal[2])}};
  }
  /// Way to the vertex from the axis' point o, x - o - t V, o at t = 0; without a turn x - p - t V.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> way(const At<T>& at) const {
    Vec3<T> y;
    for (int c = 0; c < 3; ++c) {
      const T begin = turn.turns ? T(turn.origin[c]) : at.p[position + c];
      y[c] = at.x[c] - begin - at.time * at.p[velocity + c];
    }
    return y;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T height(const At<T>& at) const {
    const Vec3<T> n = normal_at(at), y = way(at);
    T h = T(0.0);
    for (int c = 0; c < 3; ++c) h = h + n[c] * y[c];
    // The plane's distance from the axis does not turn.
    if (turn.turns)
      for (int c = 0; c < 3; ++c) h = h - normal[c] * (at.p[position + c] - turn.origin[c]);
    return h;
  }
  /// Height less thickness, of which there is none.
  KOKKOS_INLINE_FUNCTION double gap(const At<double>& at) const { return height(at); }
  /// Velocity of the vertex as seen from the plane.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> relative_velocity(const At<T>& at) const {
    Vec3<T> u;
    for (int c = 0; c < 3; ++c) u[c] = at.v[c] - at.p[velocity + c];
    if (!turn.turns) return u;
    const Vec3<T> side = cross_axis(turn.axis, way(at));
    for (int c = 0; c < 3; ++c) u[c] = u[c] - at.p[angular_velocity] * side[c];
    return u;
  }

  /// Part of the velocity as seen from the plane that is along it; n: its normal.
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> sliding_velocity(const At<T>& at, const Vec3<T>& n) const {
    Vec3<T> u = relative_velocity(at);
    T along = T(0.0);
    for (int c = 0; c < 3; ++c) along = along + n[c] * u[c];
    for (int c = 0; c < 3; ++c) u[c] = u[c] - n[c] * along;
    return u;
  }

  /// Whether the plane pushes the vertex.
  KOKKOS_INLINE_FUNCTION bool active(const At<double>& at) const {
    const double h = height(at);
    return h > 0.0 && h < at.p[range];
  }
  /// κ (d̂/2)^codimension.
  template <class T>
  KOKKOS_INLINE_FUNCTION T strength(const T& kappa, const T& d_hat) const {
    T result = kappa;
    for (int k = 0; k < codimension; ++k) result = 0.5 * result * d_hat;
    return result;
  }
  KOKKOS_INLINE_FUNCTION double energy(const At<double>& at) const {
    if (!pushes) return 0.0;
    const double h = height(at);
    return strength(at.p[stiffness], at.p[range]) * at.weight * Barrier(h * h, at.p[range]).value;
  }
  /// N = -κ (d̂/2)^codimension w ∂ψ/∂φ, ∂ψ/∂φ = 2 φ b'(y)/d̂.
  template <class T>
  KOKKOS_INLINE_FUNCTION T normal_force(const At<T>& at) const {
    const T h = height(at);
    const T y = h * h / (at.p[range] * at.p[range]);
    return -2.0 * at.weight * strength(at.p[stiffness], at.p[range]) * h * barrier_gradient(y) / at.p[range];
  }
  /// D = µ N S(|u|), W.
  KOKKOS_INLINE_FUNCTION double dissipation(const At<double>& at) const {
    const Vec3<double> u = sliding_velocity(at, normal_at(at));
    return at.p[mu] * normal_force(at) * friction_potential(std::sqrt(dot(u, u)), at.p[epsilon]);
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
    return f;
  }
  /// The force without friction, whose derivative by the position is not symmetric. The rest is semidefinite, the
  /// barrier being convex in the height.
  KOKKOS_INLINE_FUNCTION PlaneForce projected() const { return {normal, turn, false, pushes, codimension}; }
};

/// Force of a plane on a vertex where the two have a thickness: ξ, half of that of both. A force of its own, so that
/// what has none keeps its bits and its time.
struct ThickPlaneForce : PlaneForce {
  enum ThicknessNumber { thickness = PlaneForce::num_values };
  static constexpr int num_values = thickness + 2;
  template <class T>
  using At = PointValues<T, num_values>;

  template <class T>
  KOKKOS_INLINE_FUNCTION T offset(const At<T>& at) const {
    return 0.5 * (at.p[thickness] + at.p[thickness + 1]);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION static PlaneForce::At<T> thin(const At<T>& at) {
    PlaneForce::At<T> result;
    result.x = at.x;
    result.v = at.v;
    for (int k = 0; k < PlaneForce::num_values; ++k) result.p[k] = at.p[k];
    result.weight = at.weight;
    result.time = at.time;
    return result;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> way(const At<T>& at) const {
    return PlaneForce::way(thin(at));
  }
  KOKKOS_INLINE_FUNCTION double gap(const At<double>& at) const { return height(thin(at)) - offset(at); }
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> relative_velocity(const At<T>& at) const {
    return PlaneForce::relative_velocity(thin(at));
  }

  KOKKOS_INLINE_FUNCTION bool active(const At<double>& at) const {
    const double g = gap(at);
    return g > 0.0 && g < at.p[range];
  }
  KOKKOS_INLINE_FUNCTION double energy(const At<double>& at) const {
    if (!pushes) return 0.0;
    const double h = height(thin(at));
    return strength(at.p[stiffness], at.p[range]) * at.weight * Barrier(h * h, at.p[range], offset(at)).value;
  }
  /// Values for a thin plane with the same normal force N = -2 κ w φ b'(y)/(d̂ + 2 ξ): of the range r = φ/√y and the
  /// stiffness κ r/(d̂ + 2 ξ).
  template <class T>
  KOKKOS_INLINE_FUNCTION PlaneForce::At<T> equivalent(const At<T>& at) const {
    using std::sqrt;
    PlaneForce::At<T> other = thin(at);
    const T h = height(other), xi = offset(at);
    other.p[range] = h / sqrt(barrier_argument(T(h * h), at.p[range], xi));
    other.p[stiffness] = at.p[stiffness] * other.p[range] / (at.p[range] + 2.0 * xi);
    // The thin plane's strip is half of r wide.
    for (int k = 0; k < codimension; ++k) other.p[stiffness] = other.p[stiffness] * at.p[range] / other.p[range];
    return other;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> force(const At<T>& at) const {
    return PlaneForce::force(equivalent(at));
  }
  KOKKOS_INLINE_FUNCTION double dissipation(const At<double>& at) const {
    return PlaneForce::dissipation(equivalent(at));
  }
  KOKKOS_INLINE_FUNCTION ThickPlaneForce projected() const { return {PlaneForce::projected()}; }
};

}  // namespace diffsim::contact
