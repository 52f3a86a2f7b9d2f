// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "diffsim/core/impl/pack.hpp"
#include "diffsim/elastic/law.hpp"

// Functions that evaluate a law for a pack of quadrature points, one point per SIMD lane. Functions marked
// DIFFSIM_SHARED_FUNCTION are compiled once per law and are not inlined; several kernels call these functions.

namespace diffsim::elastic {

template <class L>
DIFFSIM_SHARED_FUNCTION Pack shared_energy(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  return L::energy(F, moduli);
}

template <class L>
DIFFSIM_SHARED_FUNCTION Mat3<Pack> shared_stress(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  return stress_of<L>(F, moduli);
}

/// Computes the first Piola stress P and the derivative of P along one direction by automatic differentiation. The
/// scalar type T is Pack, or a Dual of Pack for second derivatives.
template <class L, class T>
DIFFSIM_SHARED_FUNCTION void stress_and_derivative(const Mat3<Dual<T, 1>>& F, const Dual<T, 1> (&moduli)[L::num_moduli],
                                                   Mat3<Dual<T, 1>>& P) {
  P = stress_of<L>(F, moduli);
}

/// Returns dP/ds at s = 0, computed by automatic differentiation, where P is the first Piola stress at the deformation
/// gradient F + s G and at moduli in which s is added to the modulus with the index `modulus`. If G is nullptr, the
/// deformation gradient is F. If `modulus` is -1, all moduli are constant.
template <class L, class T>
DIFFSIM_FUNCTION Mat3<T> stress_along(const Mat3<T>& F, const std::type_identity_t<Mat3<T>>* G,
                                      const T (&moduli)[L::num_moduli], int modulus) {
  using D = Dual<T, 1>;
  Mat3<D> moving, P;
  D m[L::num_moduli];
  for (int i = 0; i < 9; ++i) {
    moving(i / 3, i % 3) = D::constant(F(i / 3, i % 3));
    if (G) moving(i / 3, i % 3).derivative[0] = (*G)(i / 3, i % 3);
  }
  for (int k = 0; k < L::num_moduli; ++k) {
    m[k] = D::constant(moduli[k]);
    if (k == modulus) m[k].derivative[0] = T(1.0);
  }
  stress_and_derivative<L>(moving, m, P);
  Mat3<T> dP;
  for (int i = 0; i < 9; ++i) dP(i / 3, i % 3) = P(i / 3, i % 3).derivative[0];
  return dP;
}

template <class L>
DIFFSIM_SHARED_FUNCTION Mat3<Pack> shared_stress_tangent(const Mat3<Pack>& F, const Mat3<Pack>& dF,
                                                         const Pack (&moduli)[L::num_moduli]) {
  if constexpr (requires { L::stress_tangent(F, dF, moduli); })
    return L::stress_tangent(F, dF, moduli);
  else
    return stress_along<L>(F, &dF, moduli, -1);
}

template <class L>
DIFFSIM_SHARED_FUNCTION void shared_stress_moduli(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli],
                                                  Mat3<Pack> (&A)[L::num_moduli]) {
  if constexpr (requires { L::stress_moduli(F, moduli, A); })
    L::stress_moduli(F, moduli, A);
  else
    for (int k = 0; k < L::num_moduli; ++k) A[k] = stress_along<L>(F, nullptr, moduli, k);
}

/// Computes the symmetric matrix H = ∂P/∂F, [9, 9], with the entries H[3 i + j][3 k + l] = ∂P_ij/∂F_kl, where P is the
/// first Piola stress and F the deformation gradient.
template <class L>
DIFFSIM_SHARED_FUNCTION void stress_jacobian(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli],
                                             Pack (&H)[9][9]) {
  for (int k = 0; k < 9; ++k) {
    Mat3<Pack> dF = Mat3<Pack>::zero();
    dF(k / 3, k % 3) = 1.0;
    const Mat3<Pack> dP = shared_stress_tangent<L>(F, dF, moduli);
    for (int i = 0; i < 9; ++i) H[i][k] = dP(i / 3, i % 3);
  }
}

/// True for laws that define the function `stress`. (nvcc 13.0 does not compile this requires-expression inside
/// `is_called`.)
template <class L>
concept DefinesStress = requires(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  L::stress(F, moduli);
};

/// Returns true if kernels call the functions of the law L, and false if kernels inline these functions. Regardless of
/// the result, kernels for cell types with many quadrature points (`E::compact`) call the functions of every law.
/// `is_called` returns `L::long_arithmetic` if the law L defines this constant, and otherwise returns true if L does
/// not define the function `stress`.
template <class L>
constexpr bool is_called() {
  if constexpr (requires { L::long_arithmetic; })
    return L::long_arithmetic;
  else
    return !DefinesStress<L>;
}

// Stress functions for the force kernels over cells of type E. These functions are inlined unless `is_called<L>()` or
// `E::compact` is true, because force kernels run in every step.

template <class L, class E>
DIFFSIM_FUNCTION Mat3<Pack> swept_stress(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli]) {
  if constexpr (is_called<L>() || E::compact)
    return shared_stress<L>(F, moduli);
  else
    return stress_of<L>(F, moduli);
}

template <class L, class E>
DIFFSIM_FUNCTION Mat3<Pack> swept_stress_tangent(const Mat3<Pack>& F, const Mat3<Pack>& dF,
                                                 const Pack (&moduli)[L::num_moduli]) {
  if constexpr (is_called<L>() || E::compact)
    return shared_stress_tangent<L>(F, dF, moduli);
  else
    return stress_tangent_of<L>(F, dF, moduli);
}

template <class L, class E>
DIFFSIM_FUNCTION void swept_stress_moduli(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli],
                                          Mat3<Pack> (&A)[L::num_moduli]) {
  if constexpr (is_called<L>() || E::compact)
    shared_stress_moduli<L>(F, moduli, A);
  else
    stress_moduli_of<L>(F, moduli, A);
}

}  // namespace diffsim::elastic
