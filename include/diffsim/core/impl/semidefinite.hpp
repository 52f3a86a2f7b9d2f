// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/macros.hpp"
#include "diffsim/core/impl/symmetric_eigen.hpp"

namespace diffsim {

namespace detail {

/// Returns true if the matrix a + shift I is positive definite, where `a` is a symmetric matrix and I is the identity
/// matrix. Positive definiteness is tested by Cholesky factorisation (Golub & Van Loan, section 4.2).
template <int n>
DIFFSIM_FUNCTION bool is_definite(const double (&a)[n][n], double shift) {
  double l[n][n];
  for (int j = 0; j < n; ++j) {
    double pivot = a[j][j] + shift;
    for (int k = 0; k < j; ++k) pivot -= l[j][k] * l[j][k];
    if (!(pivot > 0.0)) return false;
    l[j][j] = std::sqrt(pivot);
    for (int i = j + 1; i < n; ++i) {
      double sum = a[i][j];
      for (int k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = sum / l[j][j];
    }
  }
  return true;
}

}  // namespace detail

/// Returns true if all eigenvalues of a symmetric matrix are above -1e-13 times the Frobenius norm of the matrix.
template <int n>
DIFFSIM_FUNCTION bool is_semidefinite(const double (&a)[n][n]) {
  double size = 0.0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) size += a[i][j] * a[i][j];
  return detail::is_definite(a, 1e-13 * std::sqrt(size));
}

/// Replaces a symmetric matrix by the nearest symmetric positive semidefinite matrix: negative eigenvalues become zero.
/// `make_semidefinite` accepts matrices of `double` and of Pack. If an entry of a matrix is NaN, `make_semidefinite`
/// sets entries of the matrix to NaN.
template <int n, class T>
DIFFSIM_FUNCTION void make_semidefinite(T (&a)[n][n]) {
  T Q[n][n], values[n];
  diagonalise(a, Q);
  for (int k = 0; k < n; ++k) values[k] = a[k][k] * indicator_greater(a[k][k], 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum = 0.0;
      for (int k = 0; k < n; ++k) sum += values[k] * Q[i][k] * Q[j][k];
      a[i][j] = a[j][i] = sum;
    }
}

}  // namespace diffsim
