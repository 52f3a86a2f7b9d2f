// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// One rank's block of a mesh of the box [0, size], m, with cells[0] × cells[1] × cells[2] bricks of six tetrahedra
/// each.
///
/// Each brick is split along the diagonal from its lowest to its highest corner (Kuhn 1960), so neighbouring bricks
/// conform. Vertices and bricks are numbered with x fastest and z slowest; tetrahedron t of brick b is cell 6 b + t.
/// Bricks and vertices are divided evenly among the ranks, in order; no brick is split between ranks. The sides are the
/// regions x_min, x_max, y_min, y_max, z_min, z_max (dimension 2, tags 1 to 6). No communication.
///
/// Throws InputError for a size or count that is not positive, for bricks too flat for validate_cells(), for more
/// tetrahedra than 64-bit integers can count, and for a block larger than the machine's memory.
MeshData box_mesh(const std::array<double, 3>& size, const std::array<int, 3>& cells, int rank, int num_ranks);

}  // namespace diffsim
