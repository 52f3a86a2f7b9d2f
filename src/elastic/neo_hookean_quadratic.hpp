// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Compressible Neo-Hookean solid with a quadratic volume term (Ogden 1997, sec. 7.2). With the deformation gradient F,
/// J = det F and Lamé's moduli µ and λ, the energy W per rest volume and the first Piola stress P = ∂W/∂F are
///   W = µ/2 (tr FᵀF - 3) - µ ln J + λ/2 (J - 1)²,
///   P = µ (F - F⁻ᵀ) + λ (J - 1) J F⁻ᵀ.
/// The energy W is defined for J = det F > 0 only.
///
/// The parameters are youngs_modulus E > 0 (Pa) and poisson_ratio ν in (-1, ½). The law converts E and ν to Lamé's
/// moduli µ and λ.
struct NeoHookeanQuadratic {
  static constexpr const char* name = "neo_hookean_quadratic";
  static constexpr std::array<ParameterSpec, 2> parameters{ElasticParameters::youngs_modulus,
                                                           ElasticParameters::poisson_ratio};
  static constexpr int num_moduli = 2;
  static constexpr bool needs_positive_jacobian = true;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[2], T (&moduli)[2]) {
    lame_moduli(parameters, moduli);
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[2]) {
    using std::log;
    const T &mu = moduli[0], &lambda = moduli[1];
    const T J = determinant(F);
    return 0.5 * mu * (inner(F, F) - 3.0) - mu * log(J) + 0.5 * lambda * (J - 1.0) * (J - 1.0);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    return mu * F + (lambda * (J - 1.0) - mu / J) * cof;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T mu_by_J = mu / J;
    const T dc = (lambda + mu_by_J / J) * inner(cof, dF);
    return mu * dF + dc * cof + (lambda * (J - 1.0) - mu_by_J) * cofactor_derivative(F, dF);
  }

  template <class T>
  static DIFFSIM_FUNCTION void stress_moduli(const Mat3<T>& F, const T (&)[2], Mat3<T> (&A)[2]) {
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    A[0] = F - (T(1.0) / J) * cof;
    A[1] = (J - 1.0) * cof;
  }
};

}  // namespace diffsim
