// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <string>

#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Compressible Mooney–Rivlin rubber with an isochoric–volumetric split (Holzapfel 2000, sec. 6.5). With the
/// deformation gradient F and J = det F, the energy W per rest volume and the first Piola stress P = ∂W/∂F are
///   W = c10 (Ī1 - 3) + c01 (Ī2 - 3) + κ/2 (J - 1)²,
///   Ī1 = J^(-2/3) I1,   Ī2 = J^(-4/3) I2,   I1 = tr C,   I2 = |cof F|²,   C = FᵀF,
///   P = 2 c10 J^(-2/3) (F - I1/3 F⁻ᵀ) + 2 c01 J^(-4/3) (I1 F - F C - 2/3 I2 F⁻ᵀ) + κ (J - 1) cof F,
/// where c10, c01 and the bulk modulus κ are the parameters of the law. The energy W is defined for J = det F > 0 only.
///
/// For small strains the shear modulus is 2 (c10 + c01) and the bulk modulus is κ.
///
/// | parameter     | symbol | unit | range                            |
/// |---------------|--------|------|----------------------------------|
/// | c10           | c10    | Pa   | > -c01                           |
/// | c01           | c01    | Pa   | any; usually ≥ 0                 |
/// | bulk_modulus  | κ      | Pa   | > 0                              |
///
/// The moduli of the law are the parameters c10, c01 and κ. If J = det F ≤ 0 in a cell, the run stops with an error
/// that names the cell.
struct MooneyRivlin {
  static constexpr const char* name = "mooney_rivlin";
  static constexpr std::array<ParameterSpec, 3> parameters{
      ParameterSpec{.name = "c10",
                    .unit = "Pa",
                    .meaning = "first coefficient of Mooney and Rivlin",
                    .sample = 2e3,
                    .home = ParameterHome::cells},
      ParameterSpec{.name = "c01",
                    .unit = "Pa",
                    .meaning = "second coefficient of Mooney and Rivlin",
                    .sample = 1e3,
                    .home = ParameterHome::cells},
      ElasticParameters::bulk_modulus};
  static constexpr int num_moduli = 3;
  static constexpr bool needs_positive_jacobian = true;
  static constexpr bool long_arithmetic = true;

  /// Returns an error message if the shear modulus for small strains is not positive; otherwise an empty text.
  static std::string parameters_error(std::span<const double> parameters) {
    const double sum = parameters[0] + parameters[1];
    if (sum > 0.0) return {};
    return "c10 + c01, half the shear modulus, is " + std::to_string(sum) + " Pa, but must be positive";
  }

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[3], T (&moduli)[3]) {
    for (int k = 0; k < 3; ++k) moduli[k] = parameters[k];
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[3]) {
    using std::exp, std::log;
    const T &c10 = moduli[0], &c01 = moduli[1], &kappa = moduli[2];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T shape = exp((-2.0 / 3.0) * log(J));
    return c10 * (shape * inner(F, F) - 3.0) + c01 * (shape * shape * inner(cof, cof) - 3.0) +
           0.5 * kappa * (J - 1.0) * (J - 1.0);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[3]) {
    using std::exp, std::log;
    const T &c10 = moduli[0], &c01 = moduli[1], &kappa = moduli[2];
    const Mat3<T> cof = cofactor(F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T shape = exp((-2.0 / 3.0) * log(J));
    const T I1 = inner(F, F), I2 = inner(cof, cof);
    const T a = 2.0 * c10 * shape;
    const T b = 2.0 * c01 * shape * shape;
    const T c = kappa * (J - 1.0) - (a * I1 + 2.0 * (b * I2)) / (3.0 * J);
    return (a + b * I1) * F - b * (F * (transpose(F) * F)) + c * cof;
  }
};

}  // namespace diffsim
