// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/distance.hpp"

namespace diffsim::contact {

// The distance of two edges is not differentiable where the edges are parallel. The barrier of an edge–edge pair is
// therefore multiplied by
//   m(c) = 1 - (1 - c/ε)³ for c < ε, 1 for c ≥ ε,  c = |a × b|², a = x1 - x0, b = x3 - x2,
// where a and b are the edges x0 x1 and x2 x3, and ε is 10⁻³ |a|²|b|² in the rest configuration. c and ∇c vanish for
// parallel edges, so the product of m and the barrier is C¹ for parallel edges, too. The polynomial m is of degree 3;
// the mollifier of Li et al. 2020 (eq. 24) is of degree 2. With degree 3, m is C² at c = ε, so that derivatives of
// forces do not jump.

/// Threshold ε (m⁴) of the mollifier for two edges a and b, ε = 10⁻³ |a|²|b|², computed from the squared rest lengths
/// |a|² and |b|² (m²).
template <class T>
DIFFSIM_FUNCTION T mollifier_threshold(const T& squared_length_a, const T& squared_length_b) {
  return 1e-3 * squared_length_a * squared_length_b;
}

/// Mollifier m(c) = 1 - (1 - c/ε)³, for c < ε, and the derivatives m' = `gradient` and m'' = `hessian` with respect to
/// c. c is the squared cross product of two edges (m⁴), and ε = `threshold`.
template <class T>
struct Mollifier {
  T value, gradient, hessian;
  template <class Threshold>
  DIFFSIM_FUNCTION Mollifier(const T& c, const Threshold& threshold) {
    const T u = T(1.0) - c / threshold;
    value = T(1.0) - u * u * u;
    gradient = 3.0 * u * u / threshold;
    hessian = T(0.0) - 6.0 * u / (threshold * threshold);
  }
};

/// Squared cross product c = |a × b|² (m⁴) of the edges a = x1 - x0 and b = x3 - x2.
template <class T>
DIFFSIM_FUNCTION T squared_cross(const Vec3<T>* x) {
  const Vec3<T> n = cross(x[1] - x[0], x[3] - x[2]);
  return dot(n, n);
}
/// Gradient ∂c/∂x_k of c = |a × b|², with the edges a = x1 - x0 and b = x3 - x2. With n = a × b,
///   ∂c/∂x0 = -2 b × n, ∂c/∂x1 = 2 b × n, ∂c/∂x2 = -2 n × a, ∂c/∂x3 = 2 n × a.
template <class T>
DIFFSIM_FUNCTION Vec3<T> squared_cross_gradient(const Vec3<T>* x, int k) {
  const Vec3<T> a = x[1] - x[0], b = x[3] - x[2], n = cross(a, b);
  const Vec3<T> g = k < 2 ? cross(b, n) : cross(n, a);
  return detail::scaled(T(k % 2 == 0 ? -2.0 : 2.0), g);
}
/// Hessian block ∂²c/∂x_k∂x_l of c = |a × b|², computed from the second derivatives of c with respect to the edges
/// a = x1 - x0 and b = x3 - x2:
///   c_aa = 2(|b|² I - b bᵀ), c_bb = 2(|a|² I - a aᵀ), c_ab = 4 a bᵀ - 2 b aᵀ - 2 (a·b) I.
template <class T>
DIFFSIM_FUNCTION Mat3<T> squared_cross_hessian(const Vec3<T>* x, int k, int l) {
  const Vec3<T> a = x[1] - x[0], b = x[3] - x[2];
  const T sign = T(k % 2 == l % 2 ? 1.0 : -1.0);
  Mat3<T> h;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const T one = T(i == j ? 2.0 : 0.0);
      if (k < 2 && l < 2) h(i, j) = one * dot(b, b) - 2.0 * b[i] * b[j];
      if (k >= 2 && l >= 2) h(i, j) = one * dot(a, a) - 2.0 * a[i] * a[j];
      if (k < 2 && l >= 2) h(i, j) = 4.0 * a[i] * b[j] - 2.0 * b[i] * a[j] - one * dot(a, b);
      if (k >= 2 && l < 2) h(i, j) = 4.0 * a[j] * b[i] - 2.0 * b[j] * a[i] - one * dot(a, b);
      h(i, j) = sign * h(i, j);
    }
  return h;
}

}  // namespace diffsim::contact
