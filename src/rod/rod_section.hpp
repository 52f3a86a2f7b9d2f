// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/macros.hpp"

// Stiffnesses of a rod's cross-section as functions of the rod's parameters.

namespace diffsim {

/// Stiffnesses of a rod's cross-section. Bending 1 is bending in the plane of the segment and its director. Bending 2
/// is bending in the perpendicular plane that contains the segment.
template <class T>
struct SectionStiffness {
  T axial;     ///< axial stiffness EA (N)
  T bending1;  ///< stiffness EI₁ of bending 1 (N m²)
  T bending2;  ///< stiffness EI₂ of bending 2 (N m²)
  T torsion;   ///< torsional stiffness GJ (N m²)
};

/// Cross-section of a rod, described by six values p. The meaning of p depends on `kind`. EA, EI₁, EI₂ and GJ are the
/// stiffnesses of SectionStiffness, E is Young's modulus and ν Poisson's ratio. κ₀ is the curvature towards the
/// director that the rod has without forces, minus this curvature in the rest shape. τ₀ is the twist that the rod has
/// without forces, minus the twist in the rest shape.
///
///   given   p = EA, EI₁, EI₂, GJ, κ₀, τ₀
///   round   p = E, ν, r, unused, κ₀, τ₀: one isotropic material and the radius r. With A = π r² and I = A r²/4 the
///           stiffnesses are EA, EI₁ = EI₂ = E I, GJ = E I/(1 + ν).
struct RodSection {
  static constexpr int num_values = 6, first_natural = 4;

  enum class Kind : int { given, round };
  Kind kind = Kind::given;

  /// Returns the stiffnesses for the values p.
  template <class T>
  DIFFSIM_FUNCTION SectionStiffness<T> stiffness(const T* p) const {
    if (kind == Kind::given) return {p[0], p[1], p[2], p[3]};
    const T &E = p[0], &nu = p[1], &r = p[2];
    const T A = pi * r * r, EI = 0.25 * E * A * r * r;
    return {E * A, EI, EI, EI / (1.0 + nu)};
  }
  /// Sets `by_p`[0] … `by_p`[3] to the derivatives of a function of the stiffnesses with respect to p[0] … p[3]. `by`:
  /// derivatives of the function with respect to the stiffnesses.
  template <class T>
  DIFFSIM_FUNCTION void pull_back(const T* p, const SectionStiffness<T>& by, T* by_p) const {
    if (kind == Kind::given) {
      by_p[0] = by.axial;
      by_p[1] = by.bending1;
      by_p[2] = by.bending2;
      by_p[3] = by.torsion;
      return;
    }
    const T &E = p[0], &nu = p[1], &r = p[2];
    const T A = pi * r * r, I = 0.25 * A * r * r, softer = 1.0 / (1.0 + nu);
    const T by_EI = by.bending1 + by.bending2 + by.torsion * softer;
    by_p[0] = by.axial * A + by_EI * I;
    by_p[1] = -by.torsion * E * I * softer * softer;
    by_p[2] = E * (2.0 * pi * by.axial * r + pi * by_EI * r * r * r);
    by_p[3] = T(0.0);
  }

 private:
  static constexpr double pi = 3.14159265358979323846;
};

}  // namespace diffsim
