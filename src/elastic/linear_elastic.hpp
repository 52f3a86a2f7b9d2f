// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Linear elasticity for small strains, Hooke's law (Landau & Lifshitz 1986, sec. 4). With the deformation gradient F,
/// the identity matrix I and Lamé's moduli µ and λ, the energy W per rest volume, the first Piola stress P = ∂W/∂F and
/// the derivative dP of P along dF are
///   W = µ ε : ε + λ/2 (tr ε)²,   ε = (F + Fᵀ)/2 - I,
///   P = 2 µ ε + λ (tr ε) I,
///   dP = 2 µ dε + λ (tr dε) I,   dε = (dF + dFᵀ)/2.
///
/// The law is not objective: a rotation by an angle θ causes a strain of order θ²/2, so the law is valid for small
/// rotations only.
///
/// | parameter       | symbol | unit | range   |
/// |-----------------|--------|------|---------|
/// | youngs_modulus  | E      | Pa   | > 0     |
/// | poisson_ratio   | ν      | 1    | (-1, ½) |
///
/// The law converts the parameters E and ν to Lamé's moduli µ and λ. The energy is defined for every deformation
/// gradient F, also for det F ≤ 0. The law does not resist the inversion of a cell.
struct LinearElastic {
  static constexpr const char* name = "linear_elastic";
  static constexpr std::array<ParameterSpec, 2> parameters{ElasticParameters::youngs_modulus,
                                                           ElasticParameters::poisson_ratio};
  static constexpr int num_moduli = 2;
  static constexpr bool needs_positive_jacobian = false;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[2], T (&moduli)[2]) {
    lame_moduli(parameters, moduli);
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    const Mat3<T> strain = symmetric(F - Mat3<T>::identity());
    const T dilatation = trace(strain);
    return mu * inner(strain, strain) + 0.5 * lambda * dilatation * dilatation;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[2]) {
    return hooke(F - Mat3<T>::identity(), moduli);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>&, const Mat3<T>& dF, const T (&moduli)[2]) {
    return hooke(dF, moduli);
  }

 private:
  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> symmetric(const Mat3<T>& a) {
    return T(0.5) * (a + transpose(a));
  }
  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> hooke(const Mat3<T>& displacement_gradient, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    Mat3<T> P = mu * (displacement_gradient + transpose(displacement_gradient));
    const T pressure = lambda * trace(displacement_gradient);
    for (int i = 0; i < 3; ++i) P(i, i) = P(i, i) + pressure;
    return P;
  }
};

}  // namespace diffsim
