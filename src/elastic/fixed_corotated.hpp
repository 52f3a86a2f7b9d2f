// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "core/scalar_traits.hpp"
#include "diffsim/elastic/law.hpp"

namespace diffsim {

/// Fixed-corotated solid (Stomakhin et al. 2012, doi:10.2312/SCA/SCA12/025-032). With Lamé's moduli µ and λ, the
/// deformation gradient F, J = det F and the polar decomposition F = R S, in which R is the rotation nearest to F, the
/// energy W per rest volume, the first Piola stress P = ∂W/∂F and the derivative dP of P along dF are
///   W = µ |F - R|² + λ/2 (J - 1)² = µ (tr FᵀF - 2 a + 3) + λ/2 (J - 1)²,   a = tr S,
///   P = 2 µ (F - R) + λ (J - 1) cof F,
///   dP = 2 µ (dF - dR) + λ (cof F : dF) cof F + λ (J - 1) d cof F.
///
/// The polar decomposition F = R S is computed without a singular value decomposition. The trace a = tr S is the
/// largest root of (a² - I)² - 4 II - 8 a J = 0 with I = tr FᵀF, II = |cof F|² and J = det F. Newton's iteration for a,
/// started at √(3I), decreases monotonically to the largest root. With b = (a² - I)/2, the rotation R = ∂a/∂F and the
/// derivative dR of R along dF are (Smith, de Goes & Kim 2019, doi:10.1145/3241041, sec. 3)
///   R = ((b + I) F - F FᵀF + a cof F) / (a b - J),
///   dR = R [ω]×,   (a Id - S) ω = axial vector of RᵀdF - dFᵀR,
/// where Id is the identity matrix, and [ω]× is the matrix of the cross product with ω.
///
/// | parameter       | symbol | unit | range   |
/// |-----------------|--------|------|---------|
/// | youngs_modulus  | E      | Pa   | > 0     |
/// | poisson_ratio   | ν      | 1    | (-1, ½) |
///
/// The law converts the parameters E and ν to Lamé's moduli µ and λ. The energy W is defined for every deformation
/// gradient F, also for det F ≤ 0. The stretches σ1 ≥ σ2 ≥ σ3 are the eigenvalues of S in the polar decomposition F = R
/// S; σ3 is negative if det F < 0. The stress P and its derivative dP are not finite if the stretches satisfy σ2 + σ3 =
/// 0, because the formula of the rotation R divides by (σ1 + σ2) (σ2 + σ3) (σ3 + σ1). Examples are an inverted cell
/// with σ3 = -σ2, and a cell that is flattened to a line.
struct FixedCorotated {
  static constexpr const char* name = "fixed_corotated";
  static constexpr std::array<ParameterSpec, 2> parameters{ElasticParameters::youngs_modulus,
                                                           ElasticParameters::poisson_ratio};
  static constexpr int num_moduli = 2;
  static constexpr bool needs_positive_jacobian = false;
  static constexpr bool long_arithmetic = true;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[2], T (&moduli)[2]) {
    lame_moduli(parameters, moduli);
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    const Mat3<T> cof = cofactor(F);
    const T I = inner(F, F);
    const T J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
    const T a = stretch_trace(I, inner(cof, cof), J);
    return mu * (I - 2.0 * a + 3.0) + 0.5 * lambda * (J - 1.0) * (J - 1.0);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    const Polar<T> polar(F);
    return (2.0 * mu) * (F - polar.R) + (lambda * (polar.J - 1.0)) * polar.cof;
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[2]) {
    const T &mu = moduli[0], &lambda = moduli[1];
    const Polar<T> polar(F);
    return (2.0 * mu) * (dF - polar.rotation_derivative(F, dF)) + (lambda * inner(polar.cof, dF)) * polar.cof +
           (lambda * (polar.J - 1.0)) * cofactor_derivative(F, dF);
  }

 private:
  /// Rotation R of the polar decomposition F = R S, with `cof` = cof F and `J` = det F.
  template <class T>
  struct Polar {
    Mat3<T> cof, R;
    T J;

    explicit DIFFSIM_FUNCTION Polar(const Mat3<T>& F) : cof(cofactor(F)) {
      const T I = inner(F, F);
      J = F(0, 0) * cof(0, 0) + F(0, 1) * cof(0, 1) + F(0, 2) * cof(0, 2);
      const T a = stretch_trace(I, inner(cof, cof), J);
      const T b = 0.5 * (a * a - I);
      const T scale = T(1.0) / (a * b - J);
      R = (scale * (b + I)) * F - scale * (F * (transpose(F) * F)) + (scale * a) * cof;
    }

    /// Returns the derivative of the rotation R of the polar decomposition F = R S along a direction dF of F.
    DIFFSIM_FUNCTION Mat3<T> rotation_derivative(const Mat3<T>& F, const Mat3<T>& dF) const {
      const Mat3<T> transposed = transpose(R);
      const Mat3<T> S = transposed * F;
      const Mat3<T> A = transposed * dF;
      const Vec3<T> axial{{A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1)}};
      const Vec3<T> w = inverse(trace(S) * Mat3<T>::identity() - S) * axial;
      const T zero(0.0);
      return R * Mat3<T>{{{zero, -w[2], w[1]}, {w[2], zero, -w[0]}, {-w[1], w[0], zero}}};
    }
  };

  /// Returns Newton's correction p(a) / p'(a) for the polynomial p(a) = (a² - I)² - 4 II - 8 a J with I = tr FᵀF,
  /// II = |cof F|² and J = det F.
  template <class T>
  static DIFFSIM_FUNCTION T newton_step(const T& a, const T& I, const T& II, const T& J) {
    const T two_b = a * a - I;
    return (two_b * two_b - 4.0 * II - 8.0 * (a * J)) / (4.0 * (a * two_b) - 8.0 * J);
  }

  /// Returns the trace a = tr S of the polar decomposition F = R S: the largest root of (a² - I)² - 4 II - 8 a J = 0
  /// with I = tr FᵀF, II = |cof F|² and J = det F. Newton's iteration first computes the root from the values of I, II
  /// and J, without derivatives. If T is a scalar type of automatic differentiation, `Traits::order` further Newton
  /// iterations with scalars of type T make the derivatives of the trace a exact.
  template <class T>
  static DIFFSIM_FUNCTION T stretch_trace(const T& I, const T& II, const T& J) {
    using Traits = ScalarTraits<T>;
    using Base = typename Traits::Base;
    using std::sqrt;
    constexpr int most_steps = 60;  // usually 5 or 6; near a double root each iteration only halves the error
    const Base base_I = Traits::base(I), base_II = Traits::base(II), base_J = Traits::base(J);
    Base root = sqrt(3.0 * base_I);
    for (int i = 0; i < most_steps; ++i) {
      const Base step = newton_step(root, base_I, base_II, base_J);
      root -= step;
      if (!any_not_greater(1e-10 * root - step, 0.0)) break;
    }
    T a = Traits::constant(root);
    for (int i = 0; i < Traits::order; ++i) a = a - newton_step(a, I, II, J);
    return a;
  }
};

}  // namespace diffsim
