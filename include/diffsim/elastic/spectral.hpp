// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/pack.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim {

/// A = Q diag(values) Qᵀ; the columns of Q are the eigenvectors, in no particular order.
template <class T>
struct SymmetricEigen {
  T values[3];
  Mat3<T> vectors;
};

/// Jacobi's iteration (Golub & Van Loan 2013, sec. 8.5) of a symmetric matrix, T = double or Pack: no branch on a lane,
/// and accurate for repeated eigenvalues too.
template <class T>
DIFFSIM_FUNCTION SymmetricEigen<T> symmetric_eigen(Mat3<T> a) {
  using std::abs, std::copysign, std::sqrt;
  constexpr int most_sweeps = 10;  // 4 or 5 are usual
  SymmetricEigen<T> result;
  result.vectors = Mat3<T>::identity();
  Mat3<T>& Q = result.vectors;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    const T off = abs(a(0, 1)) + abs(a(0, 2)) + abs(a(1, 2));
    const T size = abs(a(0, 0)) + abs(a(1, 1)) + abs(a(2, 2));
    if (!any_not_greater(1e-17 * size - off, 0.0)) break;
    for (int pair = 0; pair < 3; ++pair) {
      const int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2, r = 2 - pair;
      // tan of the rotation that clears a_pq, the smaller of the two; the last term keeps 0/0 away.
      const T d = a(q, q) - a(p, p);
      const T t = copysign(2.0 * a(p, q), a(p, q) * d) / (abs(d) + sqrt(d * d + 4.0 * (a(p, q) * a(p, q))) + 1e-300);
      const T c = T(1.0) / sqrt(1.0 + t * t);
      const T s = t * c;
      a(p, p) = a(p, p) - t * a(p, q);
      a(q, q) = a(q, q) + t * a(p, q);
      a(p, q) = a(q, p) = T(0.0);
      const T a_rp = a(r, p), a_rq = a(r, q);
      a(r, p) = a(p, r) = c * a_rp - s * a_rq;
      a(r, q) = a(q, r) = s * a_rp + c * a_rq;
      for (int i = 0; i < 3; ++i) {
        const T Q_p = Q(i, p), Q_q = Q(i, q);
        Q(i, p) = c * Q_p - s * Q_q;
        Q(i, q) = s * Q_p + c * Q_q;
      }
    }
  }
  for (int i = 0; i < 3; ++i) result.values[i] = a(i, i);
  return result;
}

/// sinh(x)/x, 1 at 0; T = double or Pack.
template <class T>
DIFFSIM_FUNCTION T sinhc(const T& x) {
  return detail::by_lane(x, [](double a) {
    const double z = a * a;
    if (z > 0.25) return std::sinh(a) / a;
    return 1.0 +
           z / 6.0 * (1.0 + z / 20.0 * (1.0 + z / 42.0 * (1.0 + z / 72.0 * (1.0 + z / 110.0 * (1.0 + z / 156.0)))));
  });
}

/// (e^(q x) - e^(q y)) / (e^x - e^y), the divided difference of z^q between z = e^x and e^y; q e^((q-1) x) at x = y.
template <class T>
DIFFSIM_FUNCTION T power_difference(const T& q, const T& x, const T& y) {
  using std::exp;
  const T half = 0.5 * (x - y);
  return q * exp(0.5 * ((q - 1.0) * (x + y))) * (sinhc(q * half) / sinhc(half));
}

}  // namespace diffsim
