// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/macros.hpp"

// Stiffnesses of a rod's cross-section as functions of the rod's parameters.

namespace diffsim {

/// Stiffnesses of a rod's cross-section. Bending 1 is bending in the plane that contains a segment and the segment's
/// director. Bending 2 is bending in the plane that contains the segment and is perpendicular to the director.
template <class T>
struct SectionStiffness {
  T axial;     ///< axial stiffness EA (N)
  T bending1;  ///< stiffness EI₁ against bending in the plane that contains the director (N m²)
  T bending2;  ///< stiffness EI₂ against bending in the plane perpendicular to the director (N m²)
  T torsion;   ///< torsional stiffness GJ (N m²)
};

/// Cross-section of a rod, described by six values p. If the member `kind` is `given`, p = (EA, EI₁, EI₂, GJ, κ₀, τ₀)
/// are the stiffnesses of SectionStiffness, the natural curvature κ₀ and the natural twist τ₀. If the member `kind` is
/// `round`, p = (E, ν, r, unused, κ₀, τ₀) are Young's modulus E and Poisson's ratio ν of one isotropic material, the
/// radius r of a circle, one unused value, and κ₀ and τ₀. The stiffnesses of a `round` cross-section are EA, EI₁ = EI₂
/// = E I and GJ = E I/(1 + ν), with A = π r² and I = A r²/4.
///
/// The natural curvature κ₀ is the curvature towards the director in the stress-free state, minus the curvature towards
/// the director in the rest shape. The natural twist τ₀ is the twist per length in the stress-free state, minus the
/// twist per length in the rest shape.
struct RodSection {
  static constexpr int num_values = 6, first_natural = 4;

  enum class Kind : int { given, round };
  Kind kind = Kind::given;

  /// Returns the stiffnesses of the cross-section that the six values `p` describe.
  template <class T>
  DIFFSIM_FUNCTION SectionStiffness<T> stiffness(const T* p) const {
    if (kind == Kind::given) return {p[0], p[1], p[2], p[3]};
    const T &E = p[0], &nu = p[1], &r = p[2];
    const T A = pi * r * r, EI = 0.25 * E * A * r * r;
    return {E * A, EI, EI, EI / (1.0 + nu)};
  }
  /// Sets `by_p`[0] … `by_p`[3] to the derivatives of a function of the stiffnesses EA, EI₁, EI₂ and GJ with respect to
  /// p[0] … p[3]. `by`: derivatives of the function with respect to the stiffnesses.
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
