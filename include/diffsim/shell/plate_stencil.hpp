// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/macros.hpp"

// The vertices and hinges from which a triangle's curvature is taken.

namespace diffsim::shell {

inline constexpr int num_plate_nodes = 12, num_plate_hinges = 9;

/// Vertices of a hinge, among the nodes of a triangle's stencil: ends p and q of the side, the third corner r of the
/// triangle on the left of p → q, and that of the triangle on the right.
struct PlateHinge {
  int node[4];
};

/// Hinge k of the stencil of a triangle with the corners 0, 1, 2, counterclockwise. Hinges 0 to 2 are the sides
/// opposite to corners 0 to 2, with the vertices 3 to 5 across; hinges 3 + 2i and 4 + 2i are the other sides of the
/// triangle beyond side i, at corners i + 1 and i + 2, with the vertices 6 + 2i and 7 + 2i across.
DIFFSIM_FUNCTION PlateHinge plate_hinge(int k) {
  const int i = k < 3 ? k : (k - 3) / 2;
  const int next = (i + 1) % 3, last = (i + 2) % 3, across = 3 + i;
  if (k < 3) return {{next, last, i, across}};
  return (k - 3) % 2 == 0 ? PlateHinge{{next, across, last, 6 + 2 * i}} : PlateHinge{{across, last, next, 7 + 2 * i}};
}

/// Hinges whose angles give the slope of side i: that of the side, those of the triangle's other two sides, and those
/// of the triangle beyond.
inline constexpr int num_slope_hinges = 5;
DIFFSIM_FUNCTION int slope_hinge(int i, int k) { return k < 3 ? (i + k) % 3 : 2 * i + k; }

/// How a hinge of a stencil is there.
enum class HingeState : unsigned char {
  none,   ///< a free boundary, or beyond one
  inner,  ///< between two triangles
  held    ///< the normal at the side is prescribed; the angle is that between the triangle and this normal's plane
};

/// Point that a hinge without second triangle has instead of that triangle's third corner. At a clamped side a + (B -
/// C): a is an end of the side, B and C are its other end and the first triangle's third corner at rest, so that the
/// missing triangle is parallel to the first one at rest. At a side in a plane of symmetry the mirror image of the
/// first triangle's third corner.
enum SecondCorner : int { clamped = -1, mirrored_x = -2, mirrored_y = -3, mirrored_z = -4 };

}  // namespace diffsim::shell
