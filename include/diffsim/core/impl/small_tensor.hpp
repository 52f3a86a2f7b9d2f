// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

/// Vector of three scalars of type T (double, Pack, Dual).
template <class T>
struct Vec3 {
  T v[3];
  DIFFSIM_FUNCTION T& operator[](int i) { return v[i]; }
  DIFFSIM_FUNCTION const T& operator[](int i) const { return v[i]; }
};

template <class T>
DIFFSIM_FUNCTION Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
  return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}};
}
template <class T>
DIFFSIM_FUNCTION Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
  return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
}
template <class T>
DIFFSIM_FUNCTION Vec3<T> operator*(const T& s, const Vec3<T>& a) {
  return {{s * a[0], s * a[1], s * a[2]}};
}
template <class T>
DIFFSIM_FUNCTION T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
DIFFSIM_FUNCTION Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

/// 3×3 matrix, row-major.
template <class T>
struct Mat3 {
  T m[3][3];
  DIFFSIM_FUNCTION T& operator()(int i, int j) { return m[i][j]; }
  DIFFSIM_FUNCTION const T& operator()(int i, int j) const { return m[i][j]; }

  /// Returns the matrix whose element in row i and column j is entry(i, j). `from_entries` has no loops, because
  /// compilers remove computations with zero derivatives of AD scalars (PointGradient) in straight-line code only.
  template <class Entry>
  static DIFFSIM_FUNCTION Mat3 from_entries(const Entry& entry) {
    return {{{entry(0, 0), entry(0, 1), entry(0, 2)},
             {entry(1, 0), entry(1, 1), entry(1, 2)},
             {entry(2, 0), entry(2, 1), entry(2, 2)}}};
  }
  static DIFFSIM_FUNCTION Mat3 identity() {
    return from_entries([](int i, int j) DIFFSIM_INLINED { return T(i == j ? 1.0 : 0.0); });
  }
  static DIFFSIM_FUNCTION Mat3 zero() {
    return from_entries([](int, int) DIFFSIM_INLINED { return T(0.0); });
  }
  static DIFFSIM_FUNCTION Mat3 from_columns(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
    return {{{a[0], b[0], c[0]}, {a[1], b[1], c[1]}, {a[2], b[2], c[2]}}};
  }
};

template <class T>
DIFFSIM_FUNCTION Mat3<T> operator+(const Mat3<T>& a, const Mat3<T>& b) {
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED { return a(i, j) + b(i, j); });
}
template <class T>
DIFFSIM_FUNCTION Mat3<T> operator-(const Mat3<T>& a, const Mat3<T>& b) {
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED { return a(i, j) - b(i, j); });
}
template <class T>
DIFFSIM_FUNCTION Mat3<T> operator*(const T& s, const Mat3<T>& a) {
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED { return s * a(i, j); });
}
/// Returns the matrix product A B, where A is `a` and B is `b`.
template <class T>
DIFFSIM_FUNCTION Mat3<T> operator*(const Mat3<T>& a, const Mat3<T>& b) {
  return Mat3<T>::from_entries(
      [&](int i, int j) DIFFSIM_INLINED { return a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j); });
}
template <class T>
DIFFSIM_FUNCTION Vec3<T> operator*(const Mat3<T>& a, const Vec3<T>& x) {
  return {{a(0, 0) * x[0] + a(0, 1) * x[1] + a(0, 2) * x[2], a(1, 0) * x[0] + a(1, 1) * x[1] + a(1, 2) * x[2],
           a(2, 0) * x[0] + a(2, 1) * x[1] + a(2, 2) * x[2]}};
}
template <class T>
DIFFSIM_FUNCTION Mat3<T> transpose(const Mat3<T>& a) {
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED { return a(j, i); });
}
/// Returns the matrix product A Bᵀ, where A is `a` and B is `b`.
template <class T>
DIFFSIM_FUNCTION Mat3<T> times_transpose(const Mat3<T>& a, const Mat3<T>& b) {
  return Mat3<T>::from_entries(
      [&](int i, int j) DIFFSIM_INLINED { return a(i, 0) * b(j, 0) + a(i, 1) * b(j, 1) + a(i, 2) * b(j, 2); });
}
template <class T>
DIFFSIM_FUNCTION T trace(const Mat3<T>& a) {
  return a(0, 0) + a(1, 1) + a(2, 2);
}
/// Returns the scalar product A : B = Σ_ij A_ij B_ij, where A is `a` and B is `b`.
template <class T>
DIFFSIM_FUNCTION T inner(const Mat3<T>& a, const Mat3<T>& b) {
  T sum = a(0, 0) * b(0, 0);
  for (int k = 1; k < 9; ++k) sum = sum + a(k / 3, k % 3) * b(k / 3, k % 3);
  return sum;
}
/// Returns the cofactor matrix cof A = det(A) A⁻ᵀ = ∂ det A / ∂A, where A is `a`.
template <class T>
DIFFSIM_FUNCTION Mat3<T> cofactor(const Mat3<T>& a) {
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return a(i1, j1) * a(i2, j2) - a(i1, j2) * a(i2, j1);
  });
}
template <class T>
DIFFSIM_FUNCTION T determinant(const Mat3<T>& a) {
  return a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1)) + a(0, 1) * (a(1, 2) * a(2, 0) - a(1, 0) * a(2, 2)) +
         a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0));
}
/// Returns the derivative of the cofactor matrix cof A along the direction B, where A is `a` and B is `b`. The
/// derivative of cof A along B is bilinear and symmetric in A and B.
template <class T>
DIFFSIM_FUNCTION Mat3<T> cofactor_derivative(const Mat3<T>& a, const Mat3<T>& b) {
  return Mat3<T>::from_entries([&](int i, int j) DIFFSIM_INLINED {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return a(i1, j1) * b(i2, j2) + b(i1, j1) * a(i2, j2) - a(i1, j2) * b(i2, j1) - b(i1, j2) * a(i2, j1);
  });
}
template <class T>
DIFFSIM_FUNCTION Mat3<T> inverse(const Mat3<T>& a) {
  const Mat3<T> c = cofactor(a);
  const T scale = T(1.0) / (a(0, 0) * c(0, 0) + a(0, 1) * c(0, 1) + a(0, 2) * c(0, 2));
  return scale * transpose(c);
}

}  // namespace diffsim
