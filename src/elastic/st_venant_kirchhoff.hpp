// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// St. Venant–Kirchhoff solid: Hooke's law with Green's strain (Bonet & Wood 2008, sec. 6.4), for large rotations and
/// small strains. With the deformation gradient F, the identity matrix I, Green's strain E and Lamé's moduli µ and λ,
/// the energy W per rest volume, the first Piola stress P = ∂W/∂F, the second Piola stress S and the derivatives along
/// dF are
///   W = µ E : E + λ/2 (tr E)²,   E = (FᵀF - I)/2,
///   P = F S,   S = 2 µ E + λ (tr E) I,
///   dP = dF S + F dS,   dS = 2 µ dE + λ (tr dE) I,   dE = (dFᵀF + FᵀdF)/2.
/// The St. Venant–Kirchhoff law softens under strong compression. In the following table, E is Young's modulus.
///
/// | parameter       | symbol | unit | range   |
/// |-----------------|--------|------|---------|
/// | youngs_modulus  | E      | Pa   | > 0     |
/// | poisson_ratio   | ν      | 1    | (-1, ½) |
///
/// The law converts youngs_modulus and poisson_ratio to Lamé's moduli µ and λ. The energy is defined for every
/// deformation gradient F, also for det F ≤ 0, because the energy is a polynomial in the entries of F. The law does not
/// resist the inversion of a cell: an inverted cell can be in equilibrium.
struct StVenantKirchhoff {
  static constexpr const char* name = "st_venant_kirchhoff";
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
    const Mat3<T> E = green_strain(F);
    const T tr = trace(E);
    return mu * inner(E, E) + 0.5 * lambda * tr * tr;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[2]) {
    return F * hooke(green_strain(F), moduli);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[2]) {
    const Mat3<T> A = transpose(F) * dF;
    return dF * hooke(green_strain(F), moduli) + F * hooke(T(0.5) * (A + transpose(A)), moduli);
  }

 private:
  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> green_strain(const Mat3<T>& F) {
    return T(0.5) * (transpose(F) * F - Mat3<T>::identity());
  }
  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> hooke(const Mat3<T>& E, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    Mat3<T> S = (2.0 * mu) * E;
    const T pressure = lambda * trace(E);
    for (int i = 0; i < 3; ++i) S(i, i) = S(i, i) + pressure;
    return S;
  }
};

}  // namespace diffsim
