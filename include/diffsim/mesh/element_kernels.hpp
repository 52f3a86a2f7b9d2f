// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/small_tensor.hpp"
#include "diffsim/mesh/element.hpp"
#include "diffsim/mesh/quadrature.hpp"

namespace diffsim {

// A kind of cell is a struct with
//
//   static constexpr int nodes;
//   Rule                                                   // its quadrature (quadrature.hpp)
//   static constexpr int points_at_once;                   // in kernels that keep large arrays of each point
//   static constexpr bool compact;                         // kernels call what those of others inline: less to compile
//   static constexpr double mass_share(int node);          // of a cell's mass, lumped to its nodes; Σ = 1
//   corners(rule, q, x, y), add_corners_adjoint(rule, q, y, x)
//
// At point q the map from the reference tetrahedron has the derivative ∂x/∂ξ = [y1-y0, y2-y0, y3-y0], where y (four
// vectors) are linear in the nodes' x: y_i = Σ_a x_a ∂N_a/∂L_i with L_i the barycentric coordinates. So each point of
// any cell is worked as a linear tetrahedron is. Volumes are V = Σ_q weight(q) det(∂x/∂ξ).

/// Linear tetrahedron, one point: exact for its constant gradients.
struct Tet4 {
  using Rule = OnePoint;
  static constexpr int nodes = 4, points_at_once = 1;
  static constexpr bool compact = false;
  static DIFFSIM_FUNCTION constexpr double mass_share(int) { return 0.25; }

  template <class T>
  static DIFFSIM_FUNCTION void corners(const Rule&, int, const Vec3<T> (&x)[4], Vec3<T> (&y)[4]) {
    for (int a = 0; a < 4; ++a) y[a] = x[a];
  }
  /// x̄ += (∂y/∂x)ᵀ ȳ.
  template <class T>
  static DIFFSIM_FUNCTION void add_corners_adjoint(const Rule&, int, const Vec3<T> (&y)[4], Vec3<T> (&x)[4]) {
    for (int a = 0; a < 4; ++a) x[a] = x[a] + y[a];
  }
};

/// Quadratic tetrahedron, edges curved as the mid-edge nodes say: corners 0-3, then the nodes of edges (0,1), (1,2),
/// (0,2), (0,3), (1,3), (2,3), as in VTK.
///
/// Masses are lumped in proportion to the diagonal of the straight cell's consistent mass (Hinton, Rock & Zienkiewicz
/// 1976): 1/36 to a corner, 4/27 to a mid-edge node, all positive.
template <class R>
struct QuadraticTetrahedron {
  using Rule = R;
  static constexpr int nodes = 10, points_at_once = 4;
  static constexpr bool compact = R::num_points > 4;
  static DIFFSIM_FUNCTION constexpr double mass_share(int node) { return node < 4 ? 1.0 / 36.0 : 4.0 / 27.0; }
  static DIFFSIM_FUNCTION constexpr int edge_begin(int e) { return e == 0 || e == 2 || e == 3 ? 0 : e == 5 ? 2 : 1; }
  static DIFFSIM_FUNCTION constexpr int edge_end(int e) { return e == 0 ? 1 : e < 3 ? 2 : 3; }

  // N_i = L_i (2 L_i - 1) at corners, 4 L_i L_j at the node of edge (i, j).
  template <class T>
  static DIFFSIM_FUNCTION void corners(const R& rule, int q, const Vec3<T> (&x)[10], Vec3<T> (&y)[4]) {
    for (int i = 0; i < 4; ++i)
      for (int c = 0; c < 3; ++c) y[i][c] = T(4.0 * rule.barycentric(q, i) - 1.0) * x[i][c];
    for (int e = 0; e < 6; ++e) {
      const int i = edge_begin(e), j = edge_end(e);
      for (int c = 0; c < 3; ++c) {
        y[i][c] += T(4.0 * rule.barycentric(q, j)) * x[4 + e][c];
        y[j][c] += T(4.0 * rule.barycentric(q, i)) * x[4 + e][c];
      }
    }
  }
  template <class T>
  static DIFFSIM_FUNCTION void add_corners_adjoint(const R& rule, int q, const Vec3<T> (&y)[4], Vec3<T> (&x)[10]) {
    for (int i = 0; i < 4; ++i)
      for (int c = 0; c < 3; ++c) x[i][c] += T(4.0 * rule.barycentric(q, i) - 1.0) * y[i][c];
    for (int e = 0; e < 6; ++e) {
      const int i = edge_begin(e), j = edge_end(e);
      for (int c = 0; c < 3; ++c)
        x[4 + e][c] += T(4.0 * rule.barycentric(q, j)) * y[i][c] + T(4.0 * rule.barycentric(q, i)) * y[j][c];
    }
  }
};

/// With four points the stiffness of straight-edged cells is exact for small strains.
using Tet10 = QuadraticTetrahedron<FourPoints>;
/// For strains that vary much within a cell, and curved cells.
using FineTet10 = QuadraticTetrahedron<FourteenPoints>;

// Device code cannot read the host's table of edges.
static_assert([] {
  bool same = true;
  for (int e = 0; e < 6; ++e)
    same = same && edge_corners[e][0] == Tet10::edge_begin(e) && edge_corners[e][1] == Tet10::edge_end(e);
  return same;
}());

/// ∂x/∂ξ at a point from its four corners.
template <class T>
DIFFSIM_FUNCTION Mat3<T> edges_of(const Vec3<T> (&y)[4]) {
  return Mat3<T>::from_columns(y[1] - y[0], y[2] - y[0], y[3] - y[0]);
}

/// The corners' ȳ from the derivative A of a sum by their ∂x/∂ξ: its columns, and minus their sum at corner 0.
template <class T>
DIFFSIM_FUNCTION void edges_adjoint(const Mat3<T>& A, Vec3<T> (&y)[4]) {
  for (int i = 0; i < 3; ++i) {
    for (int a = 0; a < 3; ++a) y[a + 1][i] = A(i, a);
    y[0][i] = -(A(i, 0) + A(i, 1) + A(i, 2));
  }
}

}  // namespace diffsim
