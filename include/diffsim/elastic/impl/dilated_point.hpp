// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::elastic {

/// Energy per rest volume w(F, θ) = W(F̄) at a quadrature point, where W is the energy per rest volume of a law of
/// elasticity, and F̄ = (θ/J)^⅓ F is the deformation gradient F with the volume ratio J = det F > 0 replaced by a given
/// volume ratio θ > 0 (de Souza Neto et al. 1996, doi:10.1016/0020-7683(95)00259-6). The function `set` computes F̄.
/// The caller then computes the stress P̄ = ∂W/∂F̄ and passes P̄ to `set_stress`. With ψ = P̄ : F̄ and s = (θ/J)^⅓, the
/// function `by_theta` returns ∂w/∂θ = ψ/(3 θ), and `by_F` returns ∂w/∂F = s P̄ - ψ/(3 J) cof F.
struct DilatedPoint {
  Mat3<Pack> F, cof, F_bar, P_bar;
  Pack J, theta, scale, psi;

  DIFFSIM_SHARED_FUNCTION void set(const Mat3<Pack>& gradient, const Pack& dilatation) {
    using std::cbrt;
    F = gradient;
    theta = dilatation;
    cof = cofactor(F);
    J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    scale = cbrt(Pack(theta / J));
    F_bar = scale * F;
  }
  DIFFSIM_FUNCTION void set_stress(const Mat3<Pack>& stress) {
    P_bar = stress;
    psi = inner(P_bar, F_bar);
  }
  /// Returns ∂w/∂θ, the derivative of the energy w(F, θ) with respect to the given volume ratio θ.
  DIFFSIM_FUNCTION Pack by_theta() const { return psi / (3.0 * theta); }
  /// Returns ∂w/∂F, the derivative of the energy w(F, θ) with respect to the deformation gradient F.
  DIFFSIM_FUNCTION Mat3<Pack> by_F() const { return scale * P_bar - (psi / (3.0 * J)) * cof; }
};

/// Derivatives of the members of a `DilatedPoint` along a direction (dF, dθ) of the deformation gradient F and the
/// volume ratio θ. The function `set` computes dF̄ = `dF_bar`. The caller then computes dP̄, the derivative of the
/// stress P̄ along (dF, dθ), and passes dP̄ to `set_stress`.
struct DilatedTangent {
  Mat3<Pack> dF, dF_bar, dP_bar;
  Pack dtheta, dJ, dscale, dpsi;

  DIFFSIM_SHARED_FUNCTION void set(const DilatedPoint& at, const Mat3<Pack>& gradient, const Pack& dilatation) {
    dF = gradient;
    dtheta = dilatation;
    dJ = inner(at.cof, dF);
    dscale = (1.0 / 3.0) * at.scale * (dtheta / at.theta - dJ / at.J);
    dF_bar = at.scale * dF + dscale * at.F;
  }
  DIFFSIM_FUNCTION void set_stress(const DilatedPoint& at, const Mat3<Pack>& stress) {
    dP_bar = stress;
    dpsi = inner(dP_bar, at.F_bar) + inner(at.P_bar, dF_bar);
  }
  /// Returns the derivative of ∂w/∂θ along the direction (dF, dθ), where w(F, θ) is the energy per rest volume, F the
  /// deformation gradient and θ the volume ratio.
  DIFFSIM_FUNCTION Pack by_theta(const DilatedPoint& at) const {
    return (dpsi - at.psi * dtheta / at.theta) / (3.0 * at.theta);
  }
  /// Returns the derivative of ∂w/∂F along the direction (dF, dθ), where w(F, θ) is the energy per rest volume, F the
  /// deformation gradient and θ the volume ratio.
  DIFFSIM_FUNCTION Mat3<Pack> by_F(const DilatedPoint& at) const {
    return dscale * at.P_bar + at.scale * dP_bar - ((dpsi - at.psi * dJ / at.J) / (3.0 * at.J)) * at.cof -
           (at.psi / (3.0 * at.J)) * cofactor_derivative(at.F, dF);
  }
};

}  // namespace diffsim::elastic
