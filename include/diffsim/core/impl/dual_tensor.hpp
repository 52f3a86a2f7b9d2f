// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

// Functions of tensors of Duals. The derivatives are computed by closed formulas, which need fewer operations than Dual
// arithmetic.

/// Returns det A and the directional derivatives d det A = cof A : dA, where A is the argument `a`, dA is the
/// derivative of A along one direction, and cof A = det(A) A⁻ᵀ.
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> determinant(const Mat3<Dual<T, N>>& a) {
  Mat3<T> value;
  for (int k = 0; k < 9; ++k) value(k / 3, k % 3) = a(k / 3, k % 3).value;
  const Mat3<T> cof = cofactor(value);
  Dual<T, N> det;
  det.value = value(0, 0) * cof(0, 0) + value(0, 1) * cof(0, 1) + value(0, 2) * cof(0, 2);
  for (int n = 0; n < N; ++n) {
    T sum = cof(0, 0) * a(0, 0).derivative[n];
    for (int k = 1; k < 9; ++k) sum += cof(k / 3, k % 3) * a(k / 3, k % 3).derivative[n];
    det.derivative[n] = sum;
  }
  return det;
}

/// Returns A : B = Σ A_ij B_ij and its derivatives d(A : B) = A : dB + B : dA, where A and B are the arguments `a` and
/// `b`. If `a` and `b` are the same object, the derivatives are computed as 2 A : dA.
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> inner(const Mat3<Dual<T, N>>& a, const Mat3<Dual<T, N>>& b) {
  const bool same = &a == &b;
  Dual<T, N> c;
  c.value = a(0, 0).value * b(0, 0).value;
  for (int k = 1; k < 9; ++k) c.value += a(k / 3, k % 3).value * b(k / 3, k % 3).value;
  for (int n = 0; n < N; ++n) {
    T sum = a(0, 0).value * b(0, 0).derivative[n];
    for (int k = 1; k < 9; ++k) sum += a(k / 3, k % 3).value * b(k / 3, k % 3).derivative[n];
    if (!same)
      for (int k = 0; k < 9; ++k) sum += b(k / 3, k % 3).value * a(k / 3, k % 3).derivative[n];
    c.derivative[n] = same ? sum + sum : sum;
  }
  return c;
}

}  // namespace diffsim
