// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

/// Computes the integrals w_a = ∫ N_a dA (m²) of the shape functions N_a over a triangle with 3 or 6 nodes. The array
/// `x` contains the positions (m) of the three corners and, for 6 nodes, of the mid-edge nodes of the edges 01, 12 and
/// 20. The integrals over a six-node triangle, which can be curved, are computed with the seven-point rule of Radon
/// 1948, which is exact for polynomials of degree 5 in the barycentric coordinates.
template <class T>
void face_weights(const Vec3<T>* x, int nodes, T* w) {
  using std::sqrt;
  if (nodes == 3) {
    const Vec3<T> normal = cross(x[1] - x[0], x[2] - x[0]);
    const T share = sqrt(dot(normal, normal)) / 6.0;
    for (int a = 0; a < 3; ++a) w[a] = share;
    return;
  }
  const double root = std::sqrt(15.0);
  const double near[2] = {(6.0 - root) / 21.0, (6.0 + root) / 21.0};
  const double weight[3] = {(155.0 - root) / 1200.0, (155.0 + root) / 1200.0, 9.0 / 40.0};
  for (int a = 0; a < 6; ++a) w[a] = 0.0;
  for (int p = 0; p < 7; ++p) {
    double L[3] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    if (p < 6)
      for (int i = 0; i < 3; ++i) L[i] = i == p % 3 ? 1.0 - 2.0 * near[p / 3] : near[p / 3];
    double N[6], by_L[6][3] = {};
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      N[i] = L[i] * (2.0 * L[i] - 1.0);
      N[3 + i] = 4.0 * L[i] * L[j];
      by_L[i][i] = 4.0 * L[i] - 1.0;
      by_L[3 + i][i] = 4.0 * L[j];
      by_L[3 + i][j] = 4.0 * L[i];
    }
    Vec3<T> along[2];
    for (int k = 0; k < 2; ++k)
      for (int c = 0; c < 3; ++c) {
        along[k][c] = 0.0;
        for (int a = 0; a < 6; ++a) along[k][c] += (by_L[a][k + 1] - by_L[a][0]) * x[a][c];
      }
    const Vec3<T> normal = cross(along[0], along[1]);
    const T area = (0.5 * weight[p / 3]) * sqrt(dot(normal, normal));
    for (int a = 0; a < 6; ++a) w[a] += N[a] * area;
  }
}

}  // namespace diffsim
