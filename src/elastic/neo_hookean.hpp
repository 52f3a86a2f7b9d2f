// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Compressible Neo-Hookean solid with logarithmic volume terms (Bonet & Wood 2008, eq. 6.27). With the deformation
/// gradient F, J = det F and Lamé's moduli µ and λ, the energy W per rest volume, the first Piola stress P = ∂W/∂F and
/// the derivative dP of P along dF are
///   W = µ/2 (tr FᵀF - 3 - 2 ln J) + λ/2 (ln J)²,
///   P = µ (F - F⁻ᵀ) + λ ln J F⁻ᵀ,
///   dP = µ dF + (µ - λ ln J) F⁻ᵀ dFᵀ F⁻ᵀ + λ (F⁻ᵀ : dF) F⁻ᵀ.
/// The energy W is defined for J = det F > 0 only.
///
/// The parameters are youngs_modulus E > 0 (Pa) and poisson_ratio ν in (-1, ½). The law converts E and ν to Lamé's
/// moduli µ and λ.
struct NeoHookean {
  static constexpr const char* name = "neo_hookean";
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
    const T ln_J = log(determinant(F));
    return 0.5 * mu * (inner(F, F) - 3.0 - 2.0 * ln_J) + 0.5 * lambda * ln_J * ln_J;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[2]) {
    using std::log;
    const T &mu = moduli[0], &lambda = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T inverse_J = T(1.0) / J;
    return mu * F + (inverse_J * (lambda * log(J) - mu)) * cof;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[2]) {
    using std::log;
    const T &mu = moduli[0], &lambda = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T inverse_J = T(1.0) / J;
    // P = µ F + c(J) cof F with c = (λ ln J - µ)/J, c' = (λ - λ ln J + µ)/J².
    const T c_J = lambda * log(J) - mu;
    const T dc = (lambda - c_J) * inverse_J * inverse_J * inner(cof, dF);
    return mu * dF + dc * cof + (c_J * inverse_J) * cofactor_derivative(F, dF);
  }

  template <class T>
  static DIFFSIM_FUNCTION void stress_moduli(const Mat3<T>& F, const T (&)[2], Mat3<T> (&A)[2]) {
    using std::log;
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T inverse_J = T(1.0) / J;
    A[0] = F - inverse_J * cof;
    A[1] = (log(J) * inverse_J) * cof;
  }
};

}  // namespace diffsim
