// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/law.hpp"
#include "elastic/fibre.hpp"

namespace diffsim {

/// Holzapfel–Gasser–Ogden law of soft tissue: one family of dispersed fibres in a Neo-Hookean matrix material (Gasser,
/// Ogden & Holzapfel 2006, doi:10.1098/rsif.2005.0073), with an isochoric–volumetric split. With the deformation
/// gradient F and J = det F, the energy W per rest volume and the first Piola stress P = ∂W/∂F are
///   W = µ/2 (Ī1 - 3) + k1/(2 k2) (exp(k2 ⟨Ē⟩²) - 1) + K/2 ((J² - 1)/2 - ln J),
///   Ē = κ (Ī1 - 3) + (1 - 3κ) (Ī4 - 1),   Īk = J^(-2/3) Ik,   I1 = tr FᵀF,   I4 = |F a|²,
///   P = (µ + 2 κ ψ) J^(-2/3) (F - I1/3 F⁻ᵀ) + 2 (1 - 3κ) ψ J^(-2/3) (F a aᵀ - I4/3 F⁻ᵀ) + K/2 (J² - 1) F⁻ᵀ,
///   ψ = k1 ⟨Ē⟩ exp(k2 ⟨Ē⟩²),
/// where a is the mean fibre direction in the rest shape, a unit vector, ⟨Ē⟩ = max(Ē, 0), and µ, K, k1, k2 and κ are
/// the parameters of the law. The energy W is defined for J = det F > 0 only.
///
/// The mean fibre direction is the unit vector a = b / |b|, where b is the vector of the parameters fibre_x, fibre_y
/// and fibre_z. Fibres carry tension only, because a negative fibre strain Ē is replaced by ⟨Ē⟩ = 0. At the fibre
/// strain Ē = 0, the first Piola stress P is continuous and ∂P/∂F is discontinuous. In the code, ⟨Ē⟩ equals Ē for
/// Ē > -1e-12 instead of for Ē > 0. Regardless of rounding errors, the fibres therefore contribute to ∂P/∂F in the rest
/// shape, and to the bound of the stiffness matrix from which the stable time step is computed. For small strains, the
/// Neo-Hookean matrix material has the shear modulus µ and the bulk modulus K.
///
/// | parameter                  | symbol | unit | range                                                 |
/// |----------------------------|--------|------|-------------------------------------------------------|
/// | shear_modulus              | µ      | Pa   | > 0                                                   |
/// | bulk_modulus               | K      | Pa   | > 0                                                   |
/// | k1                         | k1     | Pa   | ≥ 0                                                   |
/// | k2                         | k2     | 1    | > 0                                                   |
/// | kappa                      | κ      | 1    | [0, ⅓]: 0 all fibres along a, ⅓ isotropic             |
/// | fibre_x, fibre_y, fibre_z  | b      | 1    | vector along the fibres in the rest shape, b ≠ 0      |
///
/// The function `moduli` computes the parameters µ, K, k1, k2 and κ, and the three components of the mean fibre
/// direction a. If J = det F ≤ 0 in a cell, the run stops with an error that names the cell.
struct HolzapfelGasserOgden {
  static constexpr const char* name = "holzapfel_gasser_ogden";
  static constexpr std::array<ParameterSpec, 8> parameters{
      ElasticParameters::shear_modulus,
      ElasticParameters::bulk_modulus,
      ParameterSpec{.name = "k1",
                    .unit = "Pa",
                    .meaning = "stiffness of the fibres",
                    .range = Interval::not_negative(),
                    .sample = 3e3,
                    .home = ParameterHome::cells},
      ParameterSpec{.name = "k2",
                    .meaning = "exponent of the fibres",
                    .range = Interval::positive(),
                    .sample = 1.5,
                    .home = ParameterHome::cells},
      ParameterSpec{.name = "kappa",
                    .meaning = "dispersion of the fibres; 0: all fibres parallel",
                    .range = {.low = 0.0, .high = 1.0 / 3.0, .has_low = true, .has_high = true},
                    .sample = 0.1,
                    .home = ParameterHome::cells},
      ElasticParameters::fibre_x,
      ElasticParameters::fibre_y,
      ElasticParameters::fibre_z};
  static constexpr int num_moduli = 8;
  static constexpr bool needs_positive_jacobian = true;
  static constexpr bool long_arithmetic = true;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[8], T (&moduli)[8]) {
    for (int k = 0; k < 5; ++k) moduli[k] = parameters[k];
    unit_fibre(parameters + 5, moduli + 5);
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[8]) {
    using std::exp, std::log;
    const T &mu = moduli[0], &bulk = moduli[1], &k1 = moduli[2], &k2 = moduli[3], &kappa = moduli[4];
    const T J = determinant(F);
    const T ln_J = log(J);
    const T shape = exp((-2.0 / 3.0) * ln_J);
    const Vec3<T> Fa = F * Vec3<T>{{moduli[5], moduli[6], moduli[7]}};
    const T I1 = shape * inner(F, F) - 3.0;
    const T E = if_positive(kappa * I1 + (1.0 - 3.0 * kappa) * (shape * dot(Fa, Fa) - 1.0), slack);
    return 0.5 * mu * I1 + 0.5 * (k1 / k2) * (exp(k2 * E * E) - 1.0) + 0.5 * bulk * (0.5 * (J * J - 1.0) - ln_J);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[8]) {
    using std::exp, std::log;
    const T &mu = moduli[0], &bulk = moduli[1], &k1 = moduli[2], &k2 = moduli[3], &kappa = moduli[4];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T shape = exp((-2.0 / 3.0) * log(J));
    const Vec3<T> a{{moduli[5], moduli[6], moduli[7]}};
    const Vec3<T> Fa = F * a;
    const T I1 = shape * inner(F, F), I4 = shape * dot(Fa, Fa);
    const T along = 1.0 - 3.0 * kappa;
    const T E = if_positive(kappa * (I1 - 3.0) + along * (I4 - 1.0), slack);
    const T psi = 2.0 * k1 * E * exp(k2 * E * E);
    const T matrix = mu + kappa * psi;
    const T fibre = along * psi;
    const T pressure = (0.5 * bulk * (J * J - 1.0) - (1.0 / 3.0) * (matrix * I1 + fibre * I4)) / J;
    return (matrix * shape) * F + pressure * cof + dyad(fibre * shape, Fa, a);
  }

 private:
  static constexpr double slack = -1e-12;
};

}  // namespace diffsim
