// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

// Lumped masses of a segment of a rod: half of the segment's mass at each end, and a mass at the segment's director D
// (mesh/directors.hpp). The mass at the director gives the cross-section's moment of inertia about the axis of the
// segment. The masses depend on the rest positions.

namespace diffsim {

/// Lumped masses of a rod's segment with the rest length L and the rest director D: ρA L/2 at each end and ρ(I₁ + I₂)
/// L/|D|² at the director. The parameters are ρA (mass per length, kg/m) and ρ(I₁ + I₂) (moment of inertia per length
/// about the axis of the segment, kg m).
struct GivenMass {
  static constexpr int num_nodes = 3, num_values = 2;
  static constexpr bool uses_rest = true;

  template <class T>
  DIFFSIM_FUNCTION void masses(const StencilValues<T, num_nodes, num_values>& at, T (&m)[num_nodes]) const {
    using std::sqrt;
    const T &rho_A = at.p[0], &rho_I = at.p[1];  // ρA, ρ(I₁ + I₂)
    const Vec3<T> e = at.X[1] - at.X[0];
    const T L = sqrt(dot(e, e));
    m[0] = m[1] = 0.5 * rho_A * L;
    m[2] = rho_I * L / dot(at.X[2], at.X[2]);
  }
};

/// Lumped masses of a segment with a round cross-section, computed from the density ρ (kg/m³) and the radius r (m) by
/// the formulas of GivenMass with the area A = π r² and the second moments of area I₁ + I₂ = A r²/2.
struct RoundMass {
  static constexpr int num_nodes = 3, num_values = 2;
  static constexpr bool uses_rest = true;

  template <class T>
  DIFFSIM_FUNCTION void masses(const StencilValues<T, num_nodes, num_values>& at, T (&m)[num_nodes]) const {
    const T &rho = at.p[0], &r = at.p[1];
    StencilValues<T, num_nodes, num_values> given = at;
    T &rho_A = given.p[0], &rho_I = given.p[1];
    rho_A = 3.14159265358979323846 * rho * r * r;
    rho_I = 0.5 * rho_A * r * r;
    GivenMass().masses(given, m);
  }
};

}  // namespace diffsim
