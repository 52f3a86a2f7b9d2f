// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

// Quadrature rules on the reference tetrahedron: ∫ f dV ≈ Σ_q weight(q) f(point q). All weights are positive and sum to
// 1/6. All points are inside the tetrahedron and are given by barycentric coordinates. A rule is exact for polynomials
// up to its degree. Kernels capture rules by value.

/// Quadrature rule with one point, the centroid of the reference tetrahedron.
struct OnePoint {
  static constexpr int degree = 1, num_points = 1;
  DIFFSIM_FUNCTION constexpr double weight(int) const { return 1.0 / 6.0; }
  DIFFSIM_FUNCTION constexpr double barycentric(int, int) const { return 0.25; }
};

/// Quadrature rule with four points (Hammer, Marlowe & Stroud 1956).
struct FourPoints {
  static constexpr int degree = 2, num_points = 4;
  DIFFSIM_FUNCTION constexpr double weight(int) const { return 1.0 / 6.0 / 4; }
  /// Barycentric coordinate i of quadrature point q: (5 + 3√5)/20 for i = q, and (5 - √5)/20 otherwise.
  DIFFSIM_FUNCTION constexpr double barycentric(int q, int i) const {
    return i == q ? 0.58541019662496852 : 0.13819660112501048;
  }
};

/// Quadrature rule with fourteen points (Grundmann & Möller 1978, Walkington 2000). The weights and points of
/// FourteenPoints are data members, because compile-time constants would not make kernels faster.
class FourteenPoints {
 public:
  static constexpr int degree = 5, num_points = 14;
  FourteenPoints();
  DIFFSIM_FUNCTION double weight(int q) const { return weights_[q]; }
  DIFFSIM_FUNCTION double barycentric(int q, int i) const { return coordinates_[q][i]; }

 private:
  double coordinates_[num_points][4];
  double weights_[num_points];
};

}  // namespace diffsim
