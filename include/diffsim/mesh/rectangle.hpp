// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/mesh/polygon_reader.hpp"

namespace diffsim {

/// A rectangle from the origin along x and y, `size` in m, of cells[0] × cells[1] cells: vertices row by row along x,
/// each cell two triangles, by one diagonal and the other in turns, with normals along z.
TriangleMesh rectangle_triangles(const std::array<double, 2>& size, const std::array<int, 2>& cells);

}  // namespace diffsim
