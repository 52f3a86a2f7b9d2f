// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

namespace diffsim {

// Node numbering of a tetrahedron. Nodes 0 to 3 are the corners, positively oriented. In a second-order cell, nodes 4
// to 9 are the mid-edge nodes, in the order of edge_corners. This numbering is that of VTK's quadratic tetrahedron and
// of XDMF's Tetrahedron_10. (Gmsh exchanges the last two nodes.)

/// Corners of each edge of a tetrahedron: edge_corners[e] are the two corners of edge e. In a second-order tetrahedron,
/// node 4 + e lies on edge e of edge_corners.
inline constexpr int edge_corners[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

/// Nodes of each face of a tetrahedron: face_nodes[f] are the nodes of the face opposite to corner f. Each list of
/// nodes of a face begins with the corners i, j, k of the face, counter-clockwise seen from outside the cell, followed
/// by the nodes on the edges ij, jk and ki.
inline constexpr int face_nodes[4][6] = {
    {1, 2, 3, 5, 9, 8}, {0, 3, 2, 7, 9, 6}, {0, 1, 3, 4, 8, 7}, {0, 2, 1, 6, 5, 4}};

/// Positions (m) of the ten nodes of a second-order cell.
using QuadraticCell = std::array<std::array<double, 3>, 10>;

/// Returns the Jacobian determinant det ∂x/∂ξ (m³) of the quadratic map from the reference tetrahedron (volume 1/6) to
/// a cell with the nodes `x`, at the point with the barycentric coordinates λ = `lambda`.
///
/// The quadratic map from the reference tetrahedron to a cell is x = Σ_a λ_a (2 λ_a - 1) x_a + Σ_ab 4 λ_a λ_b x_ab,
/// where λ_a are the barycentric coordinates, x_a is corner a and x_ab is the node on the edge (a, b). The reference
/// coordinates ξ_1, ξ_2, ξ_3 are the barycentric coordinates λ_1, λ_2, λ_3 (Zienkiewicz & Taylor, ch. 8).
double jacobian(const QuadraticCell& x, const std::array<double, 4>& lambda);

/// Returns the minimum of jacobian() (m³) over the ten nodes of the cell `x` and the four points of the quadrature rule
/// of degree 2.
double least_jacobian(const QuadraticCell& x);

/// Returns least_jacobian(x) / L³, where L is the longest distance between two corners of the cell `x`. If L is zero or
/// not finite, the result is not positive, or is NaN.
double least_relative_jacobian(const QuadraticCell& x);

/// Returns the volume (m³) of a curved cell. The quadrature rule has degree 3 and is exact, because the Jacobian
/// determinant is a cubic polynomial.
double volume(const QuadraticCell& x);

}  // namespace diffsim
