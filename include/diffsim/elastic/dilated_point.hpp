// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/law.hpp"

namespace diffsim::elastic {

/// w(F, θ) = W(F̄), F̄ = (θ/J)^⅓ F: a law whose change of volume is given by θ > 0 instead of J = det F > 0 (de Souza
/// Neto et al. 1996, doi:10.1016/0020-7683(95)00259-6). With P̄ = ∂W/∂F̄ and ψ = P̄ : F̄,
///
///   ∂w/∂θ = ψ / 3θ,   ∂w/∂F = s P̄ - ψ/3J cof F,   s = (θ/J)^⅓.
template <class L, class T>
struct DilatedPoint {
  Mat3<T> F, cof, F_bar, P_bar;
  T J, theta, scale, psi;

  template <int K>
  DIFFSIM_FUNCTION DilatedPoint(const Mat3<T>& gradient, const T& dilatation, const T (&moduli)[K])
      : F(gradient), cof(cofactor(gradient)), theta(dilatation) {
    using std::cbrt;
    J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    scale = cbrt(T(theta / J));
    F_bar = scale * F;
    P_bar = stress_of<L>(F_bar, moduli);
    psi = inner(P_bar, F_bar);
  }
  DIFFSIM_FUNCTION T by_theta() const { return psi / (3.0 * theta); }
  DIFFSIM_FUNCTION Mat3<T> by_F() const { return scale * P_bar - (psi / (3.0 * J)) * cof; }
};

/// The derivatives of a DilatedPoint's along dF and dθ: first dF̄, from which the caller has dP̄.
template <class L, class T>
struct DilatedTangent {
  const DilatedPoint<L, T>& at;
  Mat3<T> dF, dF_bar;
  T dtheta, dJ, dscale, dpsi;

  DIFFSIM_FUNCTION DilatedTangent(const DilatedPoint<L, T>& point, const Mat3<T>& gradient, const T& dilatation)
      : at(point), dF(gradient), dtheta(dilatation) {
    dJ = inner(at.cof, dF);
    dscale = (1.0 / 3.0) * at.scale * (dtheta / at.theta - dJ / at.J);
    dF_bar = at.scale * dF + dscale * at.F;
  }
  DIFFSIM_FUNCTION void set_stress(const Mat3<T>& dP_bar) { dpsi = inner(dP_bar, at.F_bar) + inner(at.P_bar, dF_bar); }
  DIFFSIM_FUNCTION T by_theta() const { return (dpsi - at.psi * dtheta / at.theta) / (3.0 * at.theta); }
  DIFFSIM_FUNCTION Mat3<T> by_F(const Mat3<T>& dP_bar) const {
    return dscale * at.P_bar + at.scale * dP_bar - ((dpsi - at.psi * dJ / at.J) / (3.0 * at.J)) * at.cof -
           (at.psi / (3.0 * at.J)) * cofactor_derivative(at.F, dF);
  }
};

}  // namespace diffsim::elastic
