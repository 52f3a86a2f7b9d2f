// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/stencil_force.hpp"

// Forces of springs and dampers between two points x₀ and x₁. Let d = x₁ - x₀, r = |d| and l = r + ε, with the
// softening length ε ≥ 0 (m). All forces are multiples of d/l. If ε = 0, d/l is the unit vector along d. If ε > 0, the
// forces are finite and differentiable at d = 0.

namespace diffsim {
namespace spring {

/// Returns the length |d| of a vector d. At d = 0, where |d| has no derivative, the derivative is set to zero. If a
/// force is a multiple of d/l with l = |d| + ε and a softening length ε > 0, the derivatives of the force do not depend
/// on the derivative of |d| at d = 0.
template <class T>
DIFFSIM_FUNCTION T length(const Vec3<T>& d) {
  using std::sqrt;
  const T square = dot(d, d);
  if (value_of(square) == 0.0) return T(0.0);
  return sqrt(square);
}

/// Sets `by.x` to the derivatives of the work w_0·f_0 + w_1·f_1 = h(l) d·w with respect to the positions x_0 and x_1 of
/// the ends of a spring or damper. The vectors w_0 and w_1 and the softening length ε are constant. The forces on the
/// ends are f_0 = h(l) d and f_1 = -h(l) d, with a scalar function h, d = x_1 - x_0, r = |d|, l = r + ε and
/// w = w_0 - w_1. `slope`: derivative ∂h/∂l.
template <class T, int P>
DIFFSIM_FUNCTION void set_by_places(const Vec3<T>& d, const T& r, const T& h, const T& slope, const Vec3<T>& w,
                                    StencilValues<T, 2, P>& by) {
  const T along_d = value_of(r) == 0.0 ? T(0.0) : dot(d, w) * slope / r;
  for (int c = 0; c < 3; ++c) {
    by.x[1][c] = h * w[c] + along_d * d[c];
    by.x[0][c] = -by.x[1][c];
  }
}

}  // namespace spring

/// Spring with the tension T(s) = k₁ s + k₂ s² + k₃ s³ at the elongation s = l - L₀, where L₀ is the rest length, l =
/// |d| + ε is the length with the softening length ε, and d = x₁ - x₀ is the vector from end 0 to end 1. The force is T
/// d/l on end 0 and -T d/l on end 1 of the spring. The parameters of the spring are the stiffnesses k₁, k₂ and k₃, the
/// rest length L₀ and the softening length ε.
struct SpringForce {
  static constexpr int num_nodes = 2, num_values = 5;

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    const T &k1 = at.p[0], &k2 = at.p[1], &k3 = at.p[2], &L0 = at.p[3], &epsilon = at.p[4];
    const Vec3<T> d = at.x[1] - at.x[0];
    const T l = spring::length(d) + epsilon, s = l - L0;
    const T over_length = s * (k1 + s * (k2 + s * k3)) / l;
    for (int c = 0; c < 3; ++c) {
      f[0][c] = over_length * d[c];
      f[1][c] = -f[0][c];
    }
  }

  /// Sets `by` to the derivatives of the work w_at[0]·f[0] + w_at[1]·f[1] of the forces f on the ends of a spring, for
  /// constant vectors `w_at`, with respect to the positions and parameters. The work is h d·w with h = T/l, the tension
  /// T, l = |d| + ε and w = w_at[0] - w_at[1]. With the derivative T' = dT/ds of the tension, ∂h/∂l is (T' - h)/l, and
  /// ∂h/∂L₀ is -T'/l.
  template <class T>
  DIFFSIM_FUNCTION void work_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                         const Vec3<T> (&w_at)[num_nodes],
                                         StencilValues<T, num_nodes, num_values>& by) const {
    const T &k1 = at.p[0], &k2 = at.p[1], &k3 = at.p[2], &L0 = at.p[3], &epsilon = at.p[4];
    const Vec3<T> d = at.x[1] - at.x[0], w = w_at[0] - w_at[1];
    const T r = spring::length(d), over_l = T(1.0) / (r + epsilon), s = r + epsilon - L0;
    const T h = s * (k1 + s * (k2 + s * k3)) * over_l;
    const T slope = k1 + s * (2.0 * k2 + 3.0 * s * k3);
    const T by_l = (slope - h) * over_l, along_d = dot(d, w), by_tension = along_d * over_l;
    spring::set_by_places(d, r, h, by_l, w, by);
    by.p[0] = by_tension * s;
    by.p[1] = by.p[0] * s;
    by.p[2] = by.p[1] * s;
    by.p[3] = -(by_tension * slope);
    by.p[4] = along_d * by_l;
  }

  /// Returns the energy (J) of the spring: the integral of T (1 - ε/l) with respect to l from the rest length L₀ to the
  /// present length l, with the tension T and the softening length ε. With the elongation s = l - L₀, the integral of
  /// T(s)/l is computed from the decomposition T(s)/l = a₂ l² + a₁ l + a₀ + T(-L₀)/l with constants a₀, a₁ and a₂.
  DIFFSIM_FUNCTION double energy(const StencilValues<double, num_nodes, num_values>& at) const {
    const double &k1 = at.p[0], &k2 = at.p[1], &k3 = at.p[2], &L0 = at.p[3], &epsilon = at.p[4];
    const double l = spring::length(at.x[1] - at.x[0]) + epsilon, s = l - L0;
    const double stored = s * s * (k1 / 2.0 + s * (k2 / 3.0 + s * k3 / 4.0));
    if (epsilon == 0.0) return stored;
    const double a2 = k3, a1 = k2 - 3.0 * k3 * L0, a0 = k1 - 2.0 * k2 * L0 + 3.0 * k3 * L0 * L0;
    const double slack = -L0 * (k1 - L0 * (k2 - L0 * k3));
    const auto integral = [&](double at_l) { return at_l * (a0 + at_l * (a1 / 2.0 + at_l * a2 / 3.0)); };
    const double logarithm = L0 > 0.0 ? slack * std::log(l / L0) : 0.0;
    return stored - epsilon * (integral(l) - integral(L0) + logarithm);
  }
};

/// Damper along the line between two points with the positions x₀ and x₁ and the velocities v₀ and v₁. With d = x₁ -
/// x₀, ḋ = v₁ - v₀ and l = |d| + ε, the force on end 0 is c (ḋ·d/l) d/l, and the force on end 1 is the negative of the
/// force on end 0. The parameters of the damper are the damping coefficient c (N s/m) and the softening length ε (m).
struct DamperForce {
  static constexpr int num_nodes = 2, num_values = 2;
  static constexpr bool uses_velocities = true;

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    const T &c = at.p[0], &epsilon = at.p[1];
    const Vec3<T> d = at.x[1] - at.x[0], rate = at.v[1] - at.v[0];
    const T l = spring::length(d) + epsilon;
    const T over_length = c * dot(rate, d) / (l * l);
    for (int k = 0; k < 3; ++k) {
      f[0][k] = over_length * d[k];
      f[1][k] = -f[0][k];
    }
  }

  /// Sets `by` to the derivatives of the work w_at[0]·f[0] + w_at[1]·f[1] of the forces f on the ends of a damper, for
  /// constant vectors `w_at`, with respect to the positions, velocities and parameters. The work is c (ḋ·d) (d·w)/l²,
  /// where d and ḋ are the differences of the positions and velocities of the ends, l = |d| + ε, and w = w_at[0] -
  /// w_at[1].
  template <class T>
  DIFFSIM_FUNCTION void work_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                         const Vec3<T> (&w_at)[num_nodes],
                                         StencilValues<T, num_nodes, num_values>& by) const {
    const T &c = at.p[0], &epsilon = at.p[1];
    const Vec3<T> d = at.x[1] - at.x[0], rate = at.v[1] - at.v[0], w = w_at[0] - w_at[1];
    const T r = spring::length(d), over_l = T(1.0) / (r + epsilon), over_square = over_l * over_l;
    const T along_d = dot(d, w), along_rate = dot(rate, d), factor = c * over_square;
    const T h = factor * along_rate, by_l = -2.0 * h * over_l;
    spring::set_by_places(d, r, h, by_l, w, by);
    for (int k = 0; k < 3; ++k) {
      const T by_d = factor * along_d * rate[k];
      by.x[1][k] += by_d;
      by.x[0][k] -= by_d;
      by.v[1][k] = factor * along_d * d[k];
      by.v[0][k] = -by.v[1][k];
    }
    by.p[0] = along_rate * along_d * over_square;
    by.p[1] = along_d * by_l;
  }
};

}  // namespace diffsim
