// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/impl/symmetric_eigen.hpp"

namespace diffsim {

/// Eigendecomposition A = Q diag(values) Qᵀ of a symmetric 3 × 3 matrix A. The columns of Q = `vectors` are the
/// eigenvectors, in no particular order.
template <class T>
struct SymmetricEigen {
  T values[3];
  Mat3<T> vectors;
};

/// Returns the eigendecomposition of the symmetric matrix `a`, for the scalar types T = double and T = Pack.
template <class T>
DIFFSIM_SHARED_FUNCTION SymmetricEigen<T> symmetric_eigen(const Mat3<T>& a) {
  T A[3][3], Q[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) A[i][j] = a(i, j);
  diagonalise(A, Q);
  SymmetricEigen<T> result;
  for (int i = 0; i < 3; ++i) {
    result.values[i] = A[i][i];
    for (int j = 0; j < 3; ++j) result.vectors(i, j) = Q[i][j];
  }
  return result;
}

/// Returns sinh(x)/x, or 1 if x = 0, for the scalar types T = double and T = Pack.
template <class T>
DIFFSIM_FUNCTION T sinhc(const T& x) {
  return detail::by_lane(x, [](double a) {
    const double z = a * a;
    if (z > 0.25) return std::sinh(a) / a;
    return 1.0 +
           z / 6.0 * (1.0 + z / 20.0 * (1.0 + z / 42.0 * (1.0 + z / 72.0 * (1.0 + z / 110.0 * (1.0 + z / 156.0)))));
  });
}

/// Returns s_n(x) = i_n(x)/x^n, where i_n is the modified spherical Bessel function of order n: s_0 = sinh(x)/x and
/// ds_n/dx = x s_(n+1) (Abramowitz & Stegun, sec. 10.2). The scalar type T is double or Pack, and n ≤ 2.
template <int n, class T>
DIFFSIM_SHARED_FUNCTION T sinhc_derivative(const T& x) {
  return detail::by_lane(x, [](double a) {
    const double z = a * a;
    if (z > 4.0) {
      const double s0 = std::sinh(a) / a, s1 = (std::cosh(a) - s0) / z;
      return n == 0 ? s0 : n == 1 ? s1 : (s0 - 3.0 * s1) / z;
    }
    double sum = 1.0;
    for (int k = 14; k > 0; --k) sum = 1.0 + z / (2.0 * k * (2.0 * (n + k) + 1.0)) * sum;
    return sum / (n == 0 ? 1.0 : n == 1 ? 3.0 : 15.0);
  });
}
template <int n, class T, int N>
DIFFSIM_FUNCTION Dual<T, N> sinhc_derivative(const Dual<T, N>& a) {
  return detail::chain(a, sinhc_derivative<n>(a.value), T(a.value * sinhc_derivative<n + 1>(a.value)));
}
template <class T, int N>
DIFFSIM_FUNCTION Dual<T, N> sinhc(const Dual<T, N>& a) {
  return sinhc_derivative<0>(a);
}

/// Returns the divided difference of the function z^q at the points z = e^x and z = e^y: (e^(q x) - e^(q y)) / (e^x -
/// e^y). For x = y, returns the limit q e^((q-1) x).
template <class T>
DIFFSIM_FUNCTION T power_difference(const T& q, const T& x, const T& y) {
  using std::exp;
  const T half = 0.5 * (x - y);
  return q * exp(0.5 * ((q - 1.0) * (x + y))) * (sinhc(q * half) / sinhc(half));
}

namespace detail {
/// Returns the second divided difference of t^q at the points t = e^x, e^y and e^z, which may coincide.
DIFFSIM_FUNCTION double power_second_difference_of(double q, double x, double y, double z) {
  const double low = std::fmin(x, std::fmin(y, z)), high = std::fmax(x, std::fmax(y, z));
  const double middle = x + y + z - low - high;
  if (high - low > 0.2) {
    const auto first = [q](double a, double b) {
      const double half = 0.5 * (a - b);
      return q * std::exp(0.5 * (q - 1.0) * (a + b)) * sinhc_derivative<0>(q * half) / sinhc_derivative<0>(half);
    };
    return (first(middle, high) - first(low, middle)) / (std::exp(high) - std::exp(low));
  }
  // Taylor series about e^c: Σ_n binomial(q, n) e^((q-2) c) h_(n-2)(a, b, d). h_n are the complete homogeneous
  // symmetric polynomials. a, b and d are the relative distances of the three points from e^c, with magnitudes of at
  // most e^0.1 - 1 ≈ 0.105.
  const double c = 0.5 * (low + high);
  const double a = std::expm1(low - c), b = std::expm1(middle - c), d = std::expm1(high - c);
  double binomial = 0.5 * q * (q - 1.0), sum = 0.0, power = 1.0, of_two = 1.0, of_three = 1.0;
  for (int n = 2; n < 20; ++n) {
    sum += binomial * of_three;
    binomial *= (q - n) / (n + 1.0);
    power *= d;
    of_two = b * of_two + power;
    of_three = a * of_three + of_two;
  }
  return std::exp((q - 2.0) * c) * sum;
}
}  // namespace detail

/// Returns the second divided difference of t^q at the points t = e^x, e^y and e^z, which may coincide, for the scalar
/// types T = double and T = Pack.
template <class T>
DIFFSIM_SHARED_FUNCTION T power_second_difference(const T& q, const T& x, const T& y, const T& z) {
  if constexpr (std::is_same_v<T, double>) {
    return detail::power_second_difference_of(q, x, y, z);
  } else {
    T result = T(0.0);
    for (int i = 0; i < pack_width; ++i)
      set_lane(result, i, detail::power_second_difference_of(lane(q, i), lane(x, i), lane(y, i), lane(z, i)));
    return result;
  }
}

}  // namespace diffsim
