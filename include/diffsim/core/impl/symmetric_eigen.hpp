// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/macros.hpp"
#include "diffsim/core/impl/pack.hpp"

namespace diffsim {

/// Diagonalises a symmetric matrix A = Q diag(λ) Qᵀ: sets `A` to diag(λ), and computes Q. Column k of Q is the
/// eigenvector of λ_k; the eigenvalues λ_k are in no particular order. The scalar type T of the symmetric matrix A is
/// `double` or Pack. All lanes of a Pack are processed together, without branches per lane, until the Jacobi iteration
/// has converged in all lanes or has completed 15 sweeps.
///
/// `diagonalise` uses the cyclic Jacobi iteration with the rotations of Golub & Van Loan 2013, sec. 8.5. Each Jacobi
/// rotation sets the eliminated element A_pq to exactly zero, and computes the other off-diagonal elements from
/// off-diagonal elements only. Rounding errors of the diagonal elements are not added to the off-diagonal elements, so
/// the off-diagonal elements converge quadratically to zero, even for repeated eigenvalues.
///
/// The squares of the entries of the matrix A must be in the range of double precision: the absolute values of nonzero
/// entries should be between 1e-150 and 1e150. If a matrix entry is NaN in a SIMD lane, the results in this lane are
/// unspecified.
template <int n, class T>
DIFFSIM_FUNCTION void diagonalise(T (&A)[n][n], T (&Q)[n][n]) {
  using std::abs, std::copysign, std::sqrt;
  constexpr int most_sweeps = 15;  // usually 4 to 7
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) Q[i][j] = i == j ? 1.0 : 0.0;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    T off = 0.0, size = 0.0;
    for (int i = 0; i < n; ++i) {
      size += abs(A[i][i]);
      for (int j = 0; j < i; ++j) off += abs(A[i][j]);
    }
    if (!any_not_greater(1e-17 * size - off, -1e-300)) break;
    for (int p = 0; p < n - 1; ++p)
      for (int q = p + 1; q < n; ++q) {
        // t is the tangent of the rotation angle that makes A_pq zero: the solution of t² + (A_qq - A_pp)/A_pq t = 1
        // with the smaller magnitude. The summand 1e-300 avoids 0/0.
        const T d = A[q][q] - A[p][p], b = A[p][q];
        const T t = copysign(T(2.0 * b), T(b * d)) / (abs(d) + sqrt(d * d + 4.0 * (b * b)) + 1e-300);
        const T c = T(1.0) / sqrt(1.0 + t * t), s = t * c;
        A[p][p] = A[p][p] - t * b;
        A[q][q] = A[q][q] + t * b;
        A[p][q] = A[q][p] = T(0.0);
        for (int r = 0; r < n; ++r) {
          const T Q_p = Q[r][p], Q_q = Q[r][q];
          Q[r][p] = c * Q_p - s * Q_q;
          Q[r][q] = s * Q_p + c * Q_q;
          if (r == p || r == q) continue;
          const T A_p = A[r][p], A_q = A[r][q];
          A[r][p] = A[p][r] = c * A_p - s * A_q;
          A[r][q] = A[q][r] = s * A_p + c * A_q;
        }
      }
  }
}

}  // namespace diffsim
