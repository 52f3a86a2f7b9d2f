// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <petscsys.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace diffsim {

/// Returns this rank's boundary faces, which are faces of only one tetrahedron of the whole mesh, as pairs (local
/// number of the cell, number 0 … 3 of the corner opposite to the face) in ascending order.
///
/// `cells` [local cells, nodes_per_cell]: nodes of each tetrahedron, as local vertex numbers. `file_index` [local
/// vertices]: numbers of the vertices in the mesh file, from 0 to num_vertices - 1. Collective.
std::vector<std::pair<int, int>> boundary_faces(MPI_Comm comm, std::span<const int> cells, int nodes_per_cell,
                                                const std::vector<PetscInt>& file_index, std::int64_t num_vertices);

}  // namespace diffsim
