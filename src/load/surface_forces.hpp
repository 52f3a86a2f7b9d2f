// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Area vector of the triangle with the corners x: the product of the area and the unit normal, ½ (x₁ - x₀) × (x₂ -
/// x₀).
template <class T>
DIFFSIM_FUNCTION Vec3<T> area_vector(const Vec3<T> (&x)[3]) {
  const Vec3<T> twice = cross(x[1] - x[0], x[2] - x[0]);
  return {{0.5 * twice[0], 0.5 * twice[1], 0.5 * twice[2]}};
}

/// Force of a pressure p on a triangle: -p A n/3 at each corner, with the area A and the unit normal n. The only
/// parameter of PressureForce is the pressure p.
struct PressureForce {
  static constexpr int num_nodes = 3, num_values = 1;
  static constexpr bool takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    const T& p = at.p[0];
    const Vec3<T> area = area_vector(at.x);
    for (auto& of : f)
      for (int c = 0; c < 3; ++c) of[c] = p * area[c] / -3.0;
  }

  /// Computes the derivatives of the work Σ_a w_a·f_a = -p/6 (e₁×e₂)·s with respect to the corner positions and the
  /// pressure p. f_a is the pressure force on corner a, w_a is a constant vector, s = w₀ + w₁ + w₂, and the edges are
  /// e₁ = x₁ - x₀ and e₂ = x₂ - x₀.
  template <class T>
  DIFFSIM_FUNCTION void work_derivatives(const StencilValues<T, num_nodes, num_values>& at, const Vec3<T> (&w)[3],
                                         StencilValues<T, num_nodes, num_values>& by) const {
    const Vec3<T> e1 = at.x[1] - at.x[0], e2 = at.x[2] - at.x[0], s = w[0] + w[1] + w[2];
    const Vec3<T> by_e1 = cross(e2, s), by_e2 = cross(s, e1);
    const T& p = at.p[0];
    const T factor = p / -6.0;
    for (int c = 0; c < 3; ++c) {
      by.x[1][c] = factor * by_e1[c];
      by.x[2][c] = factor * by_e2[c];
      by.x[0][c] = -by.x[1][c] - by.x[2][c];
    }
    by.p[0] = dot(cross(e1, e2), s) / -6.0;
  }
};

/// Drag of moving air on a triangle that is modelled as a plate. The air exerts the total force ½ C |u·a| (u·a) a/A² on
/// the triangle, with the drag parameter C (kg/m³), the area vector a, the area A = |a| and the relative velocity u =
/// (air velocity) - (mean velocity of the corners). A third of the total force acts on each corner. The parameters of
/// WindForce are the air velocity and the product C of the air density and the drag coefficient of a plate.
struct WindForce {
  static constexpr int num_nodes = 3, num_values = 4;
  static constexpr bool uses_velocities = true;

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, num_nodes, num_values>& at, Vec3<T> (&f)[num_nodes]) const {
    const T& C = at.p[3];
    const Vec3<T> area = area_vector(at.x);
    Vec3<T> u = at.vector(0);
    for (int c = 0; c < 3; ++c) u[c] -= (at.v[0][c] + at.v[1][c] + at.v[2][c]) / 3.0;
    const T flow = dot(u, area), pressure = C * absolute(flow) * flow / (6.0 * dot(area, area));
    for (auto& of : f)
      for (int c = 0; c < 3; ++c) of[c] = pressure * area[c];
  }

 private:
  static DIFFSIM_FUNCTION bool is_negative(double x) { return x < 0.0; }
  template <class T, int N>
  static DIFFSIM_FUNCTION bool is_negative(const Dual<T, N>& x) {
    return is_negative(x.value);
  }
  template <class T>
  static DIFFSIM_FUNCTION T absolute(const T& x) {
    return is_negative(x) ? -x : x;
  }
};

}  // namespace diffsim
