// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

namespace detail {

/// Computes (x, y) ← (c x - s y, s x + c y).
DIFFSIM_FUNCTION void rotate(double c, double s, double& x, double& y) {
  const double old = x;
  x = c * old - s * y;
  y = s * old + c * y;
}

/// Returns true if a + shift I is positive definite, for a symmetric matrix a. Uses Cholesky's factorisation (Golub &
/// Van Loan, section 4.2).
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

/// Replaces a symmetric matrix by the nearest symmetric positive semidefinite matrix, in which negative eigenvalues are
/// zero. Uses Jacobi's method (Golub & Van Loan, section 8.5) with a fixed order of rotations.
template <int n>
DIFFSIM_FUNCTION void make_semidefinite(double (&a)[n][n]) {
  constexpr int most_sweeps = 30;
  double q[n][n] = {};
  double size = 0.0;
  for (int i = 0; i < n; ++i) {
    q[i][i] = 1.0;
    for (int j = 0; j < n; ++j) size += a[i][j] * a[i][j];
  }
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double off = 0.0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) off += a[i][j] * a[i][j];
    if (!(off > 1e-30 * size)) break;
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < i; ++j) {
        if (a[i][j] == 0.0) continue;
        const double ratio = (a[j][j] - a[i][i]) / (2.0 * a[i][j]);
        const double t = (ratio >= 0.0 ? 1.0 : -1.0) / (std::fabs(ratio) + std::sqrt(1.0 + ratio * ratio));
        const double c = 1.0 / std::sqrt(1.0 + t * t), s = t * c;
        for (int k = 0; k < n; ++k) detail::rotate(c, s, a[k][i], a[k][j]);
        for (int k = 0; k < n; ++k) {
          detail::rotate(c, s, a[i][k], a[j][k]);
          detail::rotate(c, s, q[k][i], q[k][j]);
        }
      }
  }
  double values[n];
  for (int k = 0; k < n; ++k) values[k] = a[k][k] > 0.0 ? a[k][k] : 0.0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) sum += values[k] * q[i][k] * q[j][k];
      a[i][j] = sum;
    }
}

}  // namespace diffsim
