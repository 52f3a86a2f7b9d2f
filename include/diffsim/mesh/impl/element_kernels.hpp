// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "diffsim/mesh/impl/quadrature.hpp"

namespace diffsim {

// Requirements on a cell type: a struct with the members
//
//   nodes                               number of nodes
//   Rule                                quadrature rule (quadrature.hpp)
//   points_at_once                      number of quadrature points that kernels with large arrays process at once
//   compact                             true if kernels do not inline functions, to compile faster
//   mass_share(node)                    fraction of the cell's mass that is lumped to a node; the fractions sum to 1
//   corners(rule, q, x, y)              sets the vectors y of quadrature point q from the node positions x
//   add_corners_adjoint(rule, q, y, x)  adjoint of corners()
//
// The map from the reference tetrahedron has the derivative ∂x/∂ξ = [y1-y0, y2-y0, y3-y0] at quadrature point q. The
// four vectors y_i = Σ_a x_a ∂N_a/∂L_i are linear in the node positions x_a. N_a are the shape functions and L_i are
// the barycentric coordinates. Kernels therefore process each quadrature point of any cell like a linear tetrahedron
// with the corners y_i. The volume of a cell is V = Σ_q weight(q) det(∂x/∂ξ).

/// Linear tetrahedron with one quadrature point. Quadrature with one point is exact for functions of the gradient of a
/// field, because the gradient is constant in a linear tetrahedron.
struct Tet4 {
  using Rule = OnePoint;
  static constexpr int nodes = 4, points_at_once = 1;
  static constexpr bool compact = false;
  static DIFFSIM_FUNCTION constexpr double mass_share(int) { return 0.25; }

  template <class T>
  static DIFFSIM_FUNCTION void corners(const Rule&, int, const Vec3<T> (&x)[4], Vec3<T> (&y)[4]) {
    for (int a = 0; a < 4; ++a) y[a] = x[a];
  }
  /// Adjoint of corners(), which computes y from x: adds (∂y/∂x)ᵀ ȳ to x̄. The arguments `y` and `x` are ȳ and x̄, the
  /// derivatives of a scalar with respect to y and x.
  template <class T>
  static DIFFSIM_FUNCTION void add_corners_adjoint(const Rule&, int, const Vec3<T> (&y)[4], Vec3<T> (&x)[4]) {
    for (int a = 0; a < 4; ++a) x[a] = x[a] + y[a];
  }
};

/// Quadratic tetrahedron, whose edges may be curved. The ten nodes are the corners 0 to 3, then the mid-edge nodes of
/// the edges (0,1), (1,2), (0,2), (0,3), (1,3), (2,3), as in VTK.
///
/// Masses are lumped in proportion to the diagonal of the consistent mass matrix of the straight-edged cell (HRZ
/// lumping: Hinton, Rock & Zienkiewicz 1976). Mass lumping gives each corner 1/36 of the cell's mass, and each mid-edge
/// node 4/27.
template <class R>
struct QuadraticTetrahedron {
  using Rule = R;
  static constexpr int nodes = 10, points_at_once = 4;
  static constexpr bool compact = R::num_points > 4;
  static DIFFSIM_FUNCTION constexpr double mass_share(int node) { return node < 4 ? 1.0 / 36.0 : 4.0 / 27.0; }
  static DIFFSIM_FUNCTION constexpr int edge_begin(int e) { return e == 0 || e == 2 || e == 3 ? 0 : e == 5 ? 2 : 1; }
  static DIFFSIM_FUNCTION constexpr int edge_end(int e) { return e == 0 ? 1 : e < 3 ? 2 : 3; }

  // Shape functions: L_i (2 L_i - 1) for corner i, 4 L_i L_j for the node on edge (i, j).
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

/// Quadratic tetrahedron with four quadrature points. Quadrature with four points is exact for the stiffness matrix of
/// straight-edged quadratic tetrahedra at small strains.
using Tet10 = QuadraticTetrahedron<FourPoints>;
/// Quadratic tetrahedron with fourteen quadrature points, for curved cells and for strains that vary strongly in a
/// cell.
using FineTet10 = QuadraticTetrahedron<FourteenPoints>;

// edge_begin() and edge_end() repeat the host table edge_corners, which device code cannot read.
static_assert([] {
  bool same = true;
  for (int e = 0; e < 6; ++e)
    same = same && edge_corners[e][0] == Tet10::edge_begin(e) && edge_corners[e][1] == Tet10::edge_end(e);
  return same;
}());

/// Returns the derivative ∂x/∂ξ = [y_1-y_0, y_2-y_0, y_3-y_0] of the position x with respect to the coordinates ξ in
/// the reference tetrahedron, where y_i is the derivative of x with respect to the barycentric coordinate L_i. `y`:
/// vectors y_i = Σ_a x_a ∂N_a/∂L_i at a quadrature point, with the node positions x_a, the shape functions N_a and the
/// barycentric coordinates L_i, computed by the function `corners` of a cell type.
template <class T>
DIFFSIM_FUNCTION Mat3<T> edges_of(const Vec3<T> (&y)[4]) {
  return Mat3<T>::from_columns(y[1] - y[0], y[2] - y[0], y[3] - y[0]);
}

/// Adjoint of edges_of(). `A` is the derivative of a scalar with respect to ∂x/∂ξ. Sets `y` to the derivatives ȳ_i of
/// the scalar with respect to the arguments y_i of edges_of(): ȳ_i is column i - 1 of A for i = 1 … 3, and ȳ_0 is minus
/// the sum of the columns.
template <class T>
DIFFSIM_FUNCTION void edges_adjoint(const Mat3<T>& A, Vec3<T> (&y)[4]) {
  for (int i = 0; i < 3; ++i) {
    for (int a = 0; a < 3; ++a) y[a + 1][i] = A(i, a);
    y[0][i] = -(A(i, 0) + A(i, 1) + A(i, 2));
  }
}

}  // namespace diffsim
