// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Stable Neo-Hookean solid (Smith, de Goes & Kim 2018, doi:10.1145/3180491, eq. 14). With the deformation gradient F
/// and J = det F, the energy W per rest volume and the first Piola stress P = ∂W/∂F are
///   W = m/2 (I_C - 3) - m/2 ln(I_C + 1) + l/2 (J - α)² + const,   I_C = tr FᵀF,   α = 1 + 3m/(4l),
///   P = m (1 - 1/(I_C + 1)) F + l (J - α) cof F,
/// where m = 4/3 µ and l = λ + 5/6 µ (Smith, de Goes & Kim 2018, sec. 3.4). For small strains, the law has Lamé's
/// moduli µ and λ. The constant `const` makes the energy zero in the rest shape. The energy W is defined for every F,
/// also for inverted (det F < 0) and flat (det F = 0) cells.
///
/// The parameters are youngs_modulus E > 0 (Pa) and poisson_ratio ν in (-1, ½). The function `moduli` computes m and l
/// from E and ν.
struct StableNeoHookean {
  static constexpr const char* name = "stable_neo_hookean";
  static constexpr std::array<ParameterSpec, 2> parameters{ElasticParameters::youngs_modulus,
                                                           ElasticParameters::poisson_ratio};
  static constexpr int num_moduli = 2;
  static constexpr bool needs_positive_jacobian = false;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[2], T (&moduli)[2]) {
    T lame[2];
    lame_moduli(parameters, lame);
    const T &mu = lame[0], &lambda = lame[1];
    moduli[0] = (4.0 / 3.0) * mu;
    moduli[1] = lambda + (5.0 / 6.0) * mu;
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[2]) {
    using std::log;
    const T &m = moduli[0], &l = moduli[1];
    const T I = inner(F, F);
    // l/2 (J - α)² - l/2 (1 - α)² = l/2 (J - 1)² - 3m/4 (J - 1)
    const T K = determinant(F) - 1.0;
    return 0.5 * m * (I - 3.0 - log(0.25 * (I + 1.0))) + 0.5 * l * K * K - 0.75 * m * K;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[2]) {
    const T &m = moduli[0], &l = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T a = m - m / (inner(F, F) + 1.0);
    return a * F + (l * (J - 1.0) - 0.75 * m) * cof;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[2]) {
    const T &m = moduli[0], &l = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T inverse = T(1.0) / (inner(F, F) + 1.0);
    const T a = m - m * inverse;
    const T da = 2.0 * m * inverse * inverse * inner(F, dF);
    const T dc = l * inner(cof, dF);
    return a * dF + da * F + dc * cof + (l * (J - 1.0) - 0.75 * m) * cofactor_derivative(F, dF);
  }

  template <class T>
  static DIFFSIM_FUNCTION void stress_moduli(const Mat3<T>& F, const T (&)[2], Mat3<T> (&A)[2]) {
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    A[0] = (1.0 - 1.0 / (inner(F, F) + 1.0)) * F - T(0.75) * cof;
    A[1] = (J - 1.0) * cof;
  }
};

}  // namespace diffsim
