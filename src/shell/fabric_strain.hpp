// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Deformation gradient F of a triangle of woven cloth, in axes along the warp and the weft. The columns f₁ and f₂ of
/// the deformation gradient F are the images of the unit vectors e₁ along the warp and e₂ along the weft under the
/// deformation.
///
/// Let D₁ and D₂ be the rest edge vectors from the triangle's first corner, and n the unit normal along D₁ × D₂. The
/// component of the vector a in the plane of the triangle has the direction of the warp. The unit vector e₁ along the
/// warp has the direction of a - (a·n) n, and the unit vector along the weft is e₂ = n × e₁. With the matrix M of the
/// products eᵢ·Dⱼ, and the matrix d whose columns d₁ and d₂ are the current edge vectors from the first corner, the
/// deformation gradient is F = d M⁻¹.
template <class T>
struct FabricStrain {
  Vec3<T> D[2], d[2], n, e[2];
  Vec3<T> a;       // direction of the warp
  T M[2][2], det;  // det M = 2 × rest area
  T length;        // |a - (a·n) n|
  Vec3<T> f[2];

  template <int P>
  DIFFSIM_FUNCTION FabricStrain(const StencilValues<T, 3, P>& at, const Vec3<T>& warp) : a(warp) {
    using std::sqrt;
    for (int i = 0; i < 2; ++i) {
      D[i] = at.X[i + 1] - at.X[0];
      d[i] = at.x[i + 1] - at.x[0];
    }
    const Vec3<T> normal = cross(D[0], D[1]);
    det = sqrt(dot(normal, normal));
    n = T(1.0 / det) * normal;
    const Vec3<T> in_plane = a - dot(a, n) * n;
    length = sqrt(dot(in_plane, in_plane));
    e[0] = T(1.0 / length) * in_plane;
    e[1] = cross(n, e[0]);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) M[i][j] = dot(e[i], D[j]);
    const T inverse = 1.0 / det;
    f[0] = inverse * (M[1][1] * d[0] - M[1][0] * d[1]);
    f[1] = inverse * (M[0][0] * d[1] - M[0][1] * d[0]);
  }

  /// Computes the derivatives of the energy A ψ of the triangle with respect to the positions x, the rest positions X
  /// and the direction a of the warp. A is the rest area, and ψ is the energy per rest area, a function of the columns
  /// f₁ and f₂ of the deformation gradient. The derivative of the energy with respect to the direction of the warp is
  /// stored in the entries `first` to `first` + 2 of `by.p`. `psi`: energy ψ per rest area; `p`: derivatives of ψ with
  /// respect to the columns f₁ and f₂ of the deformation gradient.
  template <int P>
  DIFFSIM_FUNCTION void pull_back(const T& psi, const Vec3<T> (&p)[2], int first, StencilValues<T, 3, P>& by) const {
    by.x[1] = T(0.5) * (M[1][1] * p[0] - M[0][1] * p[1]);
    by.x[2] = T(0.5) * (M[0][0] * p[1] - M[1][0] * p[0]);
    by.x[0] = T(-1.0) * (by.x[1] + by.x[2]);
    // Derivative of the energy with respect to M: Q = (ψ I - [fᵢ·pⱼ]) cof(M)/2.
    T G[2][2];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) G[i][j] = T(i == j ? 0.5 : 0.0) * psi - 0.5 * dot(f[i], p[j]);
    const T cofactor[2][2] = {{M[1][1], -M[1][0]}, {-M[0][1], M[0][0]}};
    T Q[2][2];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) Q[i][j] = G[i][0] * cofactor[0][j] + G[i][1] * cofactor[1][j];
    // Derivatives of the energy with respect to e₂ and e₁. `by_e1` includes the dependence of e₂ = n × e₁ on e₁.
    const Vec3<T> by_e2 = Q[1][0] * D[0] + Q[1][1] * D[1];
    const Vec3<T> by_e1 = Q[0][0] * D[0] + Q[0][1] * D[1] + cross(by_e2, n);
    const Vec3<T> by_a = T(1.0 / length) * (by_e1 - dot(by_e1, e[0]) * e[0]);
    // Derivative of the energy with respect to n. The term -(by_a·n) a is zero, because by_a lies in the plane of the
    // triangle.
    const Vec3<T> by_n = cross(e[0], by_e2) - dot(a, n) * by_a;
    const Vec3<T> by_normal = T(1.0 / det) * (by_n - dot(by_n, n) * n);
    by.X[1] = Q[0][0] * e[0] + Q[1][0] * e[1] + cross(D[1], by_normal);
    by.X[2] = Q[0][1] * e[0] + Q[1][1] * e[1] + cross(by_normal, D[0]);
    by.X[0] = T(-1.0) * (by.X[1] + by.X[2]);
    for (int c = 0; c < 3; ++c) by.p[first + c] = by_a[c];
  }
};

}  // namespace diffsim
