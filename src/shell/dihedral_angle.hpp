// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

/// Dihedral angle θ in (-π, π] between a triangle with the corners a, b and c and a triangle with the corners b, a and
/// d, which share the side from a to b. The angle θ is the angle of rotation about the axis b - a from the normal n =
/// (b - a)×(c - a) of the first triangle to the normal m = (d - a)×(b - a) of the second triangle.
template <class T>
struct DihedralAngle {
  Vec3<T> e, c, d;  ///< vectors from corner a to the corners b, c and d
  Vec3<T> n, m;
  T square;  ///< |e|²
  T n_norm, m_norm, theta;

  /// Computes the dihedral angle θ for the corners a, b, c and d, which `x` contains in this order.
  DIFFSIM_FUNCTION explicit DihedralAngle(const Vec3<T> (&x)[4])
      : e(x[1] - x[0]), c(x[2] - x[0]), d(x[3] - x[0]), n(cross(e, c)), m(cross(d, e)), square(dot(e, e)) {
    using std::atan2;
    using std::sqrt;
    n_norm = sqrt(dot(n, n));
    m_norm = sqrt(dot(m, m));
    theta = atan2(dot(cross(n, m), e) / sqrt(square), dot(n, m));
  }

  /// Adds the gradient of the dihedral angle θ with respect to the corners a, b, c and d, multiplied by `factor`, to
  /// the array `to`.
  DIFFSIM_FUNCTION void add_gradient(const T& factor, Vec3<T> (&to)[4]) const {
    using std::sqrt;
    const T length = sqrt(square);
    const T by_c = factor * length / (n_norm * n_norm), by_d = factor * length / (m_norm * m_norm);
    const T along_c = dot(c, e) / square, along_d = dot(d, e) / square;
    for (int k = 0; k < 3; ++k) {
      const T of_c = by_c * n[k], of_d = by_d * m[k];
      to[2][k] -= of_c;
      to[3][k] -= of_d;
      to[1][k] += along_c * of_c + along_d * of_d;
      to[0][k] += (1.0 - along_c) * of_c + (1.0 - along_d) * of_d;
    }
  }
};

}  // namespace diffsim
