// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

namespace diffsim {

// Node numbering of a tetrahedron. Nodes 0 to 3 are the corners, positively oriented. In a second-order cell, nodes 4
// to 9 are the mid-edge nodes, in the order of edge_corners. This numbering is that of VTK's quadratic tetrahedron and
// of XDMF's Tetrahedron_10. (Gmsh exchanges the last two nodes.)

/// Corners of edge e. Node 4 + e lies on edge e.
inline constexpr int edge_corners[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

/// Nodes of the face opposite to corner f: the corners i, j, k, counter-clockwise seen from outside, then the nodes on
/// the edges ij, jk, ki.
inline constexpr int face_nodes[4][6] = {
    {1, 2, 3, 5, 9, 8}, {0, 3, 2, 7, 9, 6}, {0, 1, 3, 4, 8, 7}, {0, 2, 1, 6, 5, 4}};

/// Positions of the ten nodes of a second-order cell, m.
using QuadraticCell = std::array<std::array<double, 3>, 10>;

/// Jacobian determinant det ∂x/∂ξ, m³, of the quadratic map from the reference tetrahedron (volume 1/6) at the
/// barycentric coordinates λ.
///
/// x = Σ_a λ_a (2 λ_a - 1) x_a + Σ_ab 4 λ_a λ_b x_ab, ξ_k = λ_k, k = 1 … 3 (Zienkiewicz & Taylor, ch. 8).
double jacobian(const QuadraticCell& x, const std::array<double, 4>& lambda);

/// Minimum of jacobian() over the ten nodes and the four points of the degree-2 quadrature rule, m³.
double least_jacobian(const QuadraticCell& x);

/// Returns least_jacobian / L³, where L is the longest distance between two corners. The result is not positive (it may
/// be NaN) if L is zero or not finite.
double least_relative_jacobian(const QuadraticCell& x);

/// Volume of the curved cell, m³. The quadrature rule, of degree 3, is exact because the Jacobian determinant is a
/// cubic polynomial.
double volume(const QuadraticCell& x);

}  // namespace diffsim
