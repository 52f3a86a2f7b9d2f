// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim::contact {

// C² clamped log barrier (Li et al. 2020, Incremental Potential Contact, eq. 6), a dimensionless function of y =
// d²/d̂², with the distance d of two surfaces and the barrier distance d̂:
//   b(y) = -(y - 1)² ln y for 0 < y < 1, 0 for y ≥ 1.
// With the stiffness κ in Pa, κ d̂ b(y) is an energy per area in J/m² (Li et al. 2023, Convergent Incremental Potential
// Contact). The functions `barrier`, `barrier_gradient` and `barrier_hessian` do not clamp y: the caller passes 0 < y ≤
// 1.

/// Barrier b(y) = -(y - 1)² ln y, for 0 < y ≤ 1.
template <class T>
DIFFSIM_FUNCTION T barrier(const T& y) {
  using std::log;
  const T z = y - 1.0;
  return T(0.0) - z * z * log(y);
}
/// Derivative db/dy of the barrier b(y) = -(y - 1)² ln y, for 0 < y ≤ 1.
template <class T>
DIFFSIM_FUNCTION T barrier_gradient(const T& y) {
  using std::log;
  const T z = y - 1.0;
  return T(0.0) - z * (2.0 * log(y) + z / y);
}
/// Second derivative d²b/dy² of the barrier b(y) = -(y - 1)² ln y, for 0 < y ≤ 1.
template <class T>
DIFFSIM_FUNCTION T barrier_hessian(const T& y) {
  using std::log;
  const T q = (y - 1.0) / y;
  return q * (q - 4.0) - 2.0 * log(y);
}

/// Argument y of the barrier for two surfaces with the squared distance s (m²), the barrier distance d̂ = `range` (m)
/// and the contact thickness ξ (m):
///   y = (s - ξ²)/((ξ + d̂)² - ξ²) = (s - ξ²)/(d̂ (d̂ + 2 ξ)).
/// The argument y of the barrier is 0 if the distance of the surfaces equals the contact thickness ξ, and 1 if the
/// distance equals ξ + d̂, where d̂ is the barrier distance. The offset of the distance by the contact thickness ξ is
/// from Li et al. 2021, Codimensional Incremental Potential Contact, section 5.
template <class T, class Thickness>
DIFFSIM_FUNCTION T barrier_argument(const T& squared_distance, const T& range, const Thickness& thickness) {
  return (squared_distance - thickness * thickness) / (range * (range + 2.0 * thickness));
}

/// Barrier ψ(s, d̂, ξ) = d̂ b(y), in m, and the derivatives of ψ with respect to s and d̂. s = d² is the squared
/// distance of two surfaces (m²), d̂ the barrier distance (m), ξ the contact thickness (m), y = (s - ξ²)/(d̂ (d̂ + 2
/// ξ)) and b(y) = -(y - 1)² ln y; with b' = db/dy and b'' = d²b/dy², the derivatives are
///   ∂ψ/∂s    = b'/(d̂ + 2 ξ)
///   ∂²ψ/∂s²  = b''/(d̂ (d̂ + 2 ξ)²)
///   ∂ψ/∂d̂    = b - 2 y b' (d̂ + ξ)/(d̂ + 2 ξ)
///   ∂²ψ/∂s∂d̂ = -(b' + 2 y b'' (d̂ + ξ)/d̂)/(d̂ + 2 ξ)²
///
/// The barrier ψ and the derivatives of ψ are zero if the distance d of the surfaces is at least the contact thickness
/// ξ plus the barrier distance d̂. The contact energy per area is κ ψ (J/m²), with the barrier stiffness κ (Pa).
struct Barrier {
  double value = 0.0;
  double gradient = 0.0;  ///< derivative ∂ψ/∂s of the barrier ψ with respect to the squared distance s, 1/m
  double hessian = 0.0;  ///< second derivative ∂²ψ/∂s² of the barrier ψ with respect to the squared distance s, 1/m³
  double distance = 0.0;  ///< derivative ∂ψ/∂d̂ of the barrier ψ with respect to the barrier distance d̂, dimensionless
  double gradient_distance = 0.0;  ///< mixed second derivative ∂²ψ/∂s∂d̂ of the barrier ψ, 1/m²

  Barrier() = default;
  /// Evaluates the barrier ψ and the derivatives of ψ. `squared_distance` is the squared distance s > ξ² of the
  /// surfaces (m²), `range` is the barrier distance d̂ (m), and `thickness` is the contact thickness ξ (m).
  DIFFSIM_FUNCTION Barrier(double squared_distance, double range, double thickness = 0.0) {
    const double y = barrier_argument(squared_distance, range, thickness);
    if (y >= 1.0) return;
    const double reach = range + 2.0 * thickness;
    const double b = barrier(y), b1 = barrier_gradient(y), b2 = barrier_hessian(y);
    value = range * b;
    gradient = b1 / reach;
    hessian = b2 / (range * reach * reach);
    distance = b - 2.0 * y * b1 * ((range + thickness) / reach);
    gradient_distance = -(b1 + 2.0 * y * b2 * ((range + thickness) / range)) / (reach * reach);
  }
};

}  // namespace diffsim::contact
