// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

namespace diffsim {

// Numbering of a tetrahedron's nodes. The corners 0 to 3 come first, positively oriented; in a second-order cell the
// nodes 4 to 9 follow, one on each edge, in the order of edge_corners. It is that of VTK's quadratic tetrahedron and of
// XDMF's Tetrahedron_10. (Gmsh exchanges the last two.)

/// The corners of edge e, on which node 4 + e is.
inline constexpr int edge_corners[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

/// The nodes of the face opposite to corner f, seen from outside in positive order: its corners i, j, k, then the nodes
/// on the edges ij, jk, ki.
inline constexpr int face_nodes[4][6] = {
    {1, 2, 3, 5, 9, 8}, {0, 3, 2, 7, 9, 6}, {0, 1, 3, 4, 8, 7}, {0, 2, 1, 6, 5, 4}};

/// Nodes of a cell of that order.
constexpr int nodes_of_order(int order) { return order == 2 ? 10 : 4; }

/// Positions of the ten nodes of a second-order cell, m.
using QuadraticCell = std::array<std::array<double, 3>, 10>;

/// det ∂x/∂ξ of the quadratic map of the reference tetrahedron (volume 1/6) at the barycentric coordinates λ, m³.
///
/// x = Σ_a λ_a (2 λ_a - 1) x_a + Σ_ab 4 λ_a λ_b x_ab, ξ_k = λ_k, k = 1 … 3 (Zienkiewicz & Taylor, ch. 8).
double jacobian(const QuadraticCell& x, const std::array<double, 4>& lambda);

/// The least jacobian at the ten nodes and the four points of the quadrature rule of second degree, m³.
double least_jacobian(const QuadraticCell& x);

/// least_jacobian / L³, L the longest edge between corners; of no use (not above 0) where L is 0 or not finite.
double least_relative_jacobian(const QuadraticCell& x);

/// The volume of the curved cell, m³; exact, as the jacobian is a cubic.
double volume(const QuadraticCell& x);

}  // namespace diffsim
