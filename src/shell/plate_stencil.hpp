// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/macros.hpp"

// Stencil of a triangle: the hinges whose angles determine the triangle's curvature, and the nodes of these hinges.

namespace diffsim::shell {

inline constexpr int num_plate_nodes = 12, num_plate_hinges = 9;

/// Nodes of a hinge, the common side of two triangles, as indices into the nodes of a stencil: the ends p and q of the
/// side, the third corner of the triangle on the left of the vector from p to q, and the third corner of the triangle
/// on the right.
struct PlateHinge {
  int node[4];
};

/// Returns hinge k of the stencil of a triangle with the nodes 0, 1, 2 in counterclockwise order. Hinge i = 0, 1, 2 is
/// the side of the triangle opposite to node i, and node 3 + i is the third corner of the adjacent triangle at this
/// side. The other two sides of the adjacent triangle are hinge 3 + 2i, which ends at node (i + 1) mod 3, and hinge 4 +
/// 2i, which ends at node (i + 2) mod 3. Nodes 6 + 2i and 7 + 2i are the third corners of the triangles across the
/// hinges 3 + 2i and 4 + 2i.
DIFFSIM_FUNCTION PlateHinge plate_hinge(int k) {
  const int i = k < 3 ? k : (k - 3) / 2;
  const int next = (i + 1) % 3, last = (i + 2) % 3, across = 3 + i;
  if (k < 3) return {{next, last, i, across}};
  return (k - 3) % 2 == 0 ? PlateHinge{{next, across, last, 6 + 2 * i}} : PlateHinge{{across, last, next, 7 + 2 * i}};
}

/// Number of hinges whose angles determine the slope of the surface at a side of a triangle: the side itself, the
/// triangle's other two sides, and the other two sides of the adjacent triangle.
inline constexpr int num_slope_hinges = 5;
/// Returns the index, in a triangle's stencil, of the k-th of the five hinges whose angles determine the slope of the
/// surface at side i of the triangle, 0 ≤ k < 5. For k = 0, the hinge is side i of the triangle.
DIFFSIM_FUNCTION int slope_hinge(int i, int k) { return k < 3 ? (i + k) % 3 : 2 * i + k; }

/// State of a hinge in the stencil of a triangle.
enum class HingeState : unsigned char {
  none,   ///< no hinge: the side is free or does not exist, or the triangle of the stencil is built in
  inner,  ///< hinge between two triangles, except hinges with the state `held`
  held    ///< hinge at a side of a built-in triangle, at a clamped side or at a side in a plane of symmetry
};

/// Codes for hinges with an imaginary second triangle. A code replaces the vertex number of the second triangle's third
/// corner, and determines the position of that corner. At a clamped side, the position is a + (B - C), where a is the
/// current position of one end of the side, and B and C are the rest positions of the other end and of the real
/// triangle's third corner. If the side has its rest direction, the imaginary triangle is parallel to the rest shape of
/// the real triangle. At a side in a plane of symmetry, the position is the mirror image of the real triangle's third
/// corner. The code `mirrored_x` stands for a plane normal to the x axis, and so on.
enum SecondCorner : int { clamped = -1, mirrored_x = -2, mirrored_y = -3, mirrored_z = -4 };

}  // namespace diffsim::shell
