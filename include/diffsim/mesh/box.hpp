// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// One rank's block of the box [0, size] (m) of cells[0] x cells[1] x cells[2] bricks of six tetrahedra each.
///
/// Each brick is split along the diagonal from its lowest to its highest corner (Kuhn 1960), which conforms with its
/// neighbours. Vertices and bricks are numbered x fastest, z slowest; tetrahedron t of brick b is cell 6 b + t. Bricks
/// and vertices are split evenly over the ranks, in order, no brick across two. Regions x_min, x_max, y_min, y_max,
/// z_min, z_max are the sides (dimension 2, tags 1 to 6). No communication.
///
/// Throws InputError for a size or count that is not positive, for bricks too flat for validate_cells, and for more
/// than 64-bit numbers or this rank's memory hold.
MeshData box_mesh(const std::array<double, 3>& size, const std::array<int, 3>& cells, int rank, int num_ranks);

}  // namespace diffsim
