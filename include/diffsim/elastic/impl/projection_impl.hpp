// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/semidefinite.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/elastic/impl/spectral.hpp"

// Projection of H = ∂P/∂F to a positive semidefinite matrix: negative eigenvalues become 0. P is the first Piola stress
// and F is the deformation gradient. H is [9, 9]; row 3 i + j contains the derivatives of P_ij. T is double or Pack;
// all SIMD lanes of a pack are processed together.

namespace diffsim::elastic {

/// Returns true if the matrix H is positive definite in all SIMD lanes, that is if all pivots of the factorisation H =
/// LDLᵀ are positive.
template <class T>
DIFFSIM_FUNCTION bool is_positive_definite(const T (&H)[9][9]) {
  T A[9][9];
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j <= i; ++j) A[i][j] = H[i][j];
  for (int k = 0; k < 9; ++k) {
    if (any_not_greater(A[k][k], 0.0)) return false;
    const T inverse = T(1.0) / A[k][k];
    for (int i = k + 1; i < 9; ++i) {
      const T factor = A[i][k] * inverse;
      for (int j = k + 1; j <= i; ++j) A[i][j] -= factor * A[j][k];
    }
  }
  return true;
}

/// Replaces H by the positive semidefinite matrix that is nearest to the symmetric part of H: negative eigenvalues
/// become 0.
template <class T>
DIFFSIM_FUNCTION void project_to_semidefinite(T (&H)[9][9]) {
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j <= i; ++j) H[i][j] = H[j][i] = 0.5 * (H[i][j] + H[j][i]);
  make_semidefinite(H);
}

/// Orthogonal matrices U and V of the singular value decomposition F = U diag(σ) Vᵀ. The singular values σ are in
/// descending order, and the last value may be negative.
template <class T>
struct SingularFrame {
  Mat3<T> U, V;
  bool is_good;  ///< false if, in any SIMD lane, F = U Σ Vᵀ has a second singular value too small to find U
};

namespace detail {

/// Exchanges columns p and q of the eigenvectors, and the eigenvalues p and q, in those SIMD lanes in which eigenvalue
/// q is larger than eigenvalue p.
template <class T>
DIFFSIM_FUNCTION void sort_columns(SymmetricEigen<T>& eigen, int p, int q) {
  const T swap = indicator_greater(T(eigen.values[q] - eigen.values[p]), 0.0), stay = T(1.0) - swap;
  const T first = eigen.values[p], second = eigen.values[q];
  eigen.values[p] = stay * first + swap * second;
  eigen.values[q] = stay * second + swap * first;
  for (int i = 0; i < 3; ++i) {
    const T a = eigen.vectors(i, p), b = eigen.vectors(i, q);
    eigen.vectors(i, p) = stay * a + swap * b;
    eigen.vectors(i, q) = stay * b + swap * a;
  }
}

/// Returns max(x, 0).
template <class T>
DIFFSIM_FUNCTION T positive_part(const T& x) {
  return x * indicator_greater(x, 0.0);
}

}  // namespace detail

/// Returns the singular vectors U and V of the 3 × 3 matrix F = U diag(σ) Vᵀ, computed from the eigenvectors of FᵀF.
template <class T>
DIFFSIM_FUNCTION SingularFrame<T> singular_frame(const Mat3<T>& F) {
  using std::sqrt;
  Mat3<T> C;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C(i, j) = F(0, i) * F(0, j) + F(1, i) * F(1, j) + F(2, i) * F(2, j);
  SymmetricEigen<T> eigen = symmetric_eigen(C);
  detail::sort_columns(eigen, 0, 1);
  detail::sort_columns(eigen, 1, 2);
  detail::sort_columns(eigen, 0, 1);
  SingularFrame<T> frame;
  frame.V = eigen.vectors;
  Vec3<T> u[3];
  for (int k = 0; k < 2; ++k) u[k] = F * Vec3<T>{{eigen.vectors(0, k), eigen.vectors(1, k), eigen.vectors(2, k)}};
  const T largest = dot(u[0], u[0]);
  for (int c = 0; c < 3; ++c) u[0][c] = u[0][c] / sqrt(largest);
  const T along = dot(u[0], u[1]);
  for (int c = 0; c < 3; ++c) u[1][c] = u[1][c] - along * u[0][c];
  const T second = dot(u[1], u[1]);
  for (int c = 0; c < 3; ++c) u[1][c] = u[1][c] / sqrt(second);
  u[2] = cross(u[0], u[1]);
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) frame.U(c, k) = u[k][c];
  // If the second singular value is below 1e-6 times the first singular value, U has rounding errors above 1e-10.
  frame.is_good = !any_not_greater(T(second - 1e-12 * largest), 0.0);
  return frame;
}

namespace detail {

/// Computes the 9×9 matrix D: column 3 a + b has the entries of the matrix u_a v_bᵀ, row by row, where u_a is column a
/// of `frame.U` and v_b is column b of `frame.V`.
template <class T>
DIFFSIM_FUNCTION void set_frame_matrix(const SingularFrame<T>& frame, T (&D)[9][9]) {
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) D[3 * i + j][3 * a + b] = frame.U(i, a) * frame.V(j, b);
}

/// Computes the product HD = H D of the matrix H with the matrix D of set_frame_matrix().
template <class T>
DIFFSIM_FUNCTION void multiply_by_frame(const T (&H)[9][9], const SingularFrame<T>& frame, T (&HD)[9][9]) {
  for (int row = 0; row < 9; ++row) {
    T by_v[3][3];  // Σ_l H[row][k l] V_lb
    for (int k = 0; k < 3; ++k)
      for (int b = 0; b < 3; ++b)
        by_v[k][b] =
            H[row][3 * k] * frame.V(0, b) + H[row][3 * k + 1] * frame.V(1, b) + H[row][3 * k + 2] * frame.V(2, b);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        HD[row][3 * a + b] = by_v[0][b] * frame.U(0, a) + by_v[1][b] * frame.U(1, a) + by_v[2][b] * frame.U(2, a);
  }
}

/// Computes the symmetric matrix A = Dᵀ HD, where HD is the product of the stress derivative H with the matrix D of
/// set_frame_matrix(). If the stress belongs to an isotropic law, A consists of one 3 × 3 block for the principal
/// stretches (rows and columns 0, 4 and 8) and one 2 × 2 block for each pair of principal axes a < b (rows and columns
/// 3 a + b and 3 b + a). Returns false if, in any SIMD lane, A has entries outside of these blocks that are larger than
/// rounding errors.
template <class T>
DIFFSIM_FUNCTION bool set_blocks(const T (&D)[9][9], const T (&HD)[9][9], T (&A)[9][9]) {
  T all = 0.0, outside = 0.0;
  for (int p = 0; p < 9; ++p)
    for (int q = 0; q <= p; ++q) {
      T sum = 0.0;
      for (int row = 0; row < 9; ++row) sum += D[row][p] * HD[row][q];
      A[p][q] = A[q][p] = sum;
      all += sum * sum;
      const bool is_stretch = p % 4 == 0 && q % 4 == 0, is_pair = p == q || p == 3 * (q % 3) + q / 3;
      if (!is_stretch && !is_pair) outside += sum * sum;
    }
  return !any_not_greater(T(1e-24 * all - outside), -1e-300);
}

/// Replaces the 3 × 3 block for the stretches (rows and columns 0, 4 and 8) of the matrix A of set_blocks() by the
/// nearest positive semidefinite matrix.
template <class T>
DIFFSIM_FUNCTION void project_stretches(T (&A)[9][9]) {
  Mat3<T> stretches;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) stretches(a, b) = A[4 * a][4 * b];
  const SymmetricEigen<T> eigen = symmetric_eigen(stretches);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      T sum = 0.0;
      for (int k = 0; k < 3; ++k)
        sum += detail::positive_part(eigen.values[k]) * eigen.vectors(a, k) * eigen.vectors(b, k);
      A[4 * a][4 * b] = sum;
    }
}

/// Replaces the 2 × 2 block for each pair of axes a < b (rows and columns 3 a + b and 3 b + a) of the matrix A of
/// set_blocks() by the nearest positive semidefinite matrix.
template <class T>
DIFFSIM_FUNCTION void project_pairs(T (&A)[9][9]) {
  using std::sqrt;
  for (int a = 0; a < 2; ++a)
    for (int b = a + 1; b < 3; ++b) {
      const int p = 3 * a + b, q = 3 * b + a;
      // The block [m + d, e; e, m - d] has the eigenvalues m ± r.
      const T m = 0.5 * (A[p][p] + A[q][q]), d = 0.5 * (A[p][p] - A[q][q]), e = A[p][q];
      const T r = sqrt(d * d + e * e);
      const T high = detail::positive_part(T(m + r)), low = detail::positive_part(T(m - r));
      const T mean = 0.5 * (high + low), part = 0.5 * (high - low) / (r + 1e-300);
      A[p][p] = mean + part * d;
      A[q][q] = mean - part * d;
      A[p][q] = A[q][p] = part * e;
    }
}

/// Computes H = D A Dᵀ with the matrix D of set_frame_matrix(). Entries of A outside of the blocks of set_blocks()
/// count as 0.
template <class T>
DIFFSIM_FUNCTION void set_from_blocks(const T (&D)[9][9], const T (&A)[9][9], T (&H)[9][9]) {
  for (int row = 0; row < 9; ++row) {
    T DA[9];
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const int p = 3 * a + b, q = 3 * b + a;
        DA[p] = a == b ? D[row][0] * A[0][p] + D[row][4] * A[4][p] + D[row][8] * A[8][p]
                       : D[row][p] * A[p][p] + D[row][q] * A[q][p];
      }
    for (int column = 0; column <= row; ++column) {
      T sum = 0.0;
      for (int p = 0; p < 9; ++p) sum += DA[p] * D[column][p];
      H[row][column] = H[column][row] = sum;
    }
  }
}

}  // namespace detail

/// Projects H, the derivative of a stress with respect to the deformation gradient F, to a positive semidefinite matrix
/// in the basis u_a v_bᵀ of the singular vectors u_a and v_b of F. In this basis, the matrix H of an isotropic law
/// consists of one 3 × 3 block for the principal stretches and one 2 × 2 block for each pair of principal axes (Smith,
/// de Goes & Kim 2019, Analytic eigensystems for isotropic distortion energies). Returns true if H was projected.
/// Returns false, without a change of H, if H has entries outside of these blocks, as for laws with fibres, or if F
/// does not determine the singular vectors.
template <class T>
DIFFSIM_FUNCTION bool project_in_frame(const Mat3<T>& F, T (&H)[9][9]) {
  const SingularFrame<T> frame = singular_frame(F);
  if (!frame.is_good) return false;
  T D[9][9], HD[9][9], A[9][9];
  detail::set_frame_matrix(frame, D);
  detail::multiply_by_frame(H, frame, HD);
  if (!detail::set_blocks(D, HD, A)) return false;
  detail::project_stretches(A);
  detail::project_pairs(A);
  detail::set_from_blocks(D, A, H);
  return true;
}

/// Replaces H, the derivative of a stress with respect to the deformation gradient F, by the nearest positive
/// semidefinite matrix.
template <class T>
DIFFSIM_FUNCTION void project_to_semidefinite(const Mat3<T>& F, T (&H)[9][9]) {
  if (!project_in_frame(F, H)) project_to_semidefinite(H);
}

}  // namespace diffsim::elastic
