// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns a triangulation of the rectangle [0, size[0]] × [0, size[1]] (m) in the plane z = 0. The rectangle is
/// divided into cells[0] × cells[1] small rectangles.
///
/// Vertices are numbered row by row; the x coordinate varies fastest. Each small rectangle is split into two triangles
/// along a diagonal, whose direction alternates between neighbouring rectangles. The normals of the triangles point
/// along +z.
TriangleMesh rectangle_triangles(const std::array<double, 2>& size, const std::array<int, 2>& cells);

}  // namespace diffsim
