// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Green's strain of a triangle of constant strain, computed without axes in the plane of the triangle.
///
/// The mixed components of Green's strain are e = A⁻¹ g with g = (a - A)/2, aᵢⱼ = dᵢ·dⱼ and Aᵢⱼ = Dᵢ·Dⱼ (Ciarlet 2000,
/// section 4.1). The vectors d₁ and d₂ are the current edge vectors, and D₁ and D₂ the rest edge vectors, from the
/// first corner of the triangle.
template <class T>
struct MembraneStrain {
  Vec3<T> d[2], D[2];
  T A[3], g[3];  ///< components 11, 12, 22
  /// Twice the rest area of the triangle, √(det A) with Aᵢⱼ = Dᵢ·Dⱼ for the rest edge vectors D₁ and D₂.
  T root;
  /// Products det A · tr e and det A · det e, with det A = `root`² and the mixed components e of Green's strain.
  T trace, product;

  template <int P>
  DIFFSIM_FUNCTION explicit MembraneStrain(const StencilValues<T, 3, P>& at) {
    using std::sqrt;
    for (int i = 0; i < 2; ++i) {
      d[i] = at.x[i + 1] - at.x[0];
      D[i] = at.X[i + 1] - at.X[0];
    }
    for (int k = 0; k < 3; ++k) {
      const int i = k / 2, j = (k + 1) / 2;
      A[k] = dot(D[i], D[j]);
      g[k] = 0.5 * (dot(d[i], d[j]) - A[k]);
    }
    root = sqrt(A[0] * A[2] - A[1] * A[1]);
    trace = A[2] * g[0] - 2.0 * A[1] * g[1] + A[0] * g[2];
    product = g[0] * g[2] - g[1] * g[1];
  }

  /// Computes the derivatives of a function of the members `trace`, `product` and `root`² with respect to the current
  /// and the rest positions of the triangle's corners. `by_trace`, `by_product`, `by_square`: partial derivatives of
  /// the function with respect to `trace`, `product` and `root`².
  template <int P>
  DIFFSIM_FUNCTION void set_derivatives(const T& by_trace, const T& by_product, const T& by_square,
                                        StencilValues<T, 3, P>& by) const {
    // Derivatives of the function with respect to g, and with respect to A at fixed g. s[1] and q[1] are the sums of
    // the derivatives with respect to the equal components 12 and 21.
    T s[3], q[3];
    s[0] = by_trace * A[2] + by_product * g[2];
    s[1] = -2.0 * (by_trace * A[1] + by_product * g[1]);
    s[2] = by_trace * A[0] + by_product * g[0];
    q[0] = by_trace * g[2] + by_square * A[2];
    q[1] = -2.0 * (by_trace * g[1] + by_square * A[1]);
    q[2] = by_trace * g[0] + by_square * A[0];
    for (int c = 0; c < 3; ++c) {
      by.x[1][c] = s[0] * d[0][c] + 0.5 * s[1] * d[1][c];
      by.x[2][c] = 0.5 * s[1] * d[0][c] + s[2] * d[1][c];
      by.x[0][c] = -by.x[1][c] - by.x[2][c];
      by.X[1][c] = (2.0 * q[0] - s[0]) * D[0][c] + (q[1] - 0.5 * s[1]) * D[1][c];
      by.X[2][c] = (q[1] - 0.5 * s[1]) * D[0][c] + (2.0 * q[2] - s[2]) * D[1][c];
      by.X[0][c] = -by.X[1][c] - by.X[2][c];
    }
  }
};

}  // namespace diffsim
