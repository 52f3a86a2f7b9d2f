// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim::contact {

// Penalty of two surfaces with the gap g = d - ξ, the distance d, the thickness ξ and the barrier distance d̂. With the
// relative compression r = 1 - g/d̂, the penalty is ψ = d̂ r³/3 (m) for r > 0, and 0 otherwise. With the barrier
// stiffness κ (Pa), κ ψ is an energy per area (J/m²), and -κ ∂ψ/∂g = κ r² is the contact pressure.
//
// Damping multiplies the pressure by 1 - P'(c dg/dt), with the damping c (s/m) and the convex function P of w = c
// dg/dt:
//   P(w) = w²/2                  for w < 0,
//          w²/2 + w³/3 - w⁴/4    for 0 ≤ w < 1,
//          w - 5/12              for w ≥ 1.
// Surfaces that approach have the factor 1 - c dg/dt (Hunt and Crossley 1975, Coefficient of restitution interpreted as
// damping in vibroimpact); surfaces that separate at dg/dt ≥ 1/c have no pressure, and never attract each other. P' is
// continuously differentiable. The dissipation potential of the damping per area is κ r² P(c dg/dt)/c (W/m²).

/// Relative compression r = 1 - g/d̂ of two surfaces with the gap g = `gap` and the barrier distance d̂ = `range`; may
/// be negative or larger than 1.
template <class T>
DIFFSIM_FUNCTION T compression(const T& gap, const T& range) {
  return T(1.0) - gap / range;
}

/// Function P'(w) of damping.
template <class T>
DIFFSIM_FUNCTION T damping_factor(const T& w) {
  if (value_of(w) <= 0.0) return w;
  return value_of(w) < 1.0 ? w * (T(1.0) + w * (T(1.0) - w)) : T(1.0);
}
/// Function P(w) of damping.
DIFFSIM_FUNCTION double damping_potential(double w) {
  if (w <= 0.0) return 0.5 * w * w;
  return w < 1.0 ? w * w * (0.5 + w * (1.0 / 3.0 - 0.25 * w)) : w - 5.0 / 12.0;
}

/// Penalty ψ(s, d̂, ξ) = d̂ r³/3 (m) as a function of the squared distance s = d² > 0, and the derivatives of ψ with
/// respect to s:
///   ∂ψ/∂s   = -r²/(2 d)
///   ∂²ψ/∂s² = (r/d̂ + r²/(2 d))/(2 d²)
struct Penalty {
  double value = 0.0;
  double gradient = 0.0;  ///< ∂ψ/∂s, 1/m
  double hessian = 0.0;   ///< ∂²ψ/∂s², 1/m³

  /// `squared_distance`: squared distance s > 0 (m²). `range`: barrier distance d̂ (m). `thickness`: thickness ξ (m).
  DIFFSIM_FUNCTION Penalty(double squared_distance, double range, double thickness) {
    const double d = std::sqrt(squared_distance), r = compression(d - thickness, range);
    if (r <= 0.0) return;
    value = range * r * r * r / 3.0;
    gradient = -0.5 * r * r / d;
    hessian = 0.5 * (r / range + 0.5 * r * r / d) / squared_distance;
  }
};

}  // namespace diffsim::contact
