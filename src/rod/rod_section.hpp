// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/macros.hpp"

// Stiffnesses of a rod's cross-section as functions of the rod's parameters.

namespace diffsim {

/// Stiffnesses of a cross-section. Bending 1 is in the plane of the segment and the director; bending 2 is in the
/// perpendicular plane that contains the segment.
template <class T>
struct SectionStiffness {
  T axial;     ///< EA (N)
  T bending1;  ///< EI₁ (N m²)
  T bending2;  ///< EI₂ (N m²)
  T torsion;   ///< GJ (N m²)
};

/// Cross-section of a rod, described by six values p. The meaning of p depends on `kind`. κ₀ and τ₀ are the curvature
/// and the twist of the rod free of forces, minus the curvature and the twist of the rest shape.
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
    const T A = pi * p[2] * p[2], EI = 0.25 * p[0] * A * p[2] * p[2];
    return {p[0] * A, EI, EI, EI / (1.0 + p[1])};
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
    const T A = pi * p[2] * p[2], I = 0.25 * A * p[2] * p[2], softer = 1.0 / (1.0 + p[1]);
    const T by_EI = by.bending1 + by.bending2 + by.torsion * softer;
    by_p[0] = by.axial * A + by_EI * I;
    by_p[1] = -by.torsion * p[0] * I * softer * softer;
    by_p[2] = p[0] * (2.0 * pi * by.axial * p[2] + pi * by_EI * p[2] * p[2] * p[2]);
    by_p[3] = T(0.0);
  }

 private:
  static constexpr double pi = 3.14159265358979323846;
};

}  // namespace diffsim
