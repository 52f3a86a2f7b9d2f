// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Result of face_neighbours() for a face that belongs to only one cell.
inline constexpr PetscInt no_cell = -1;
/// Result of face_neighbours() for the third and further cells with the same face, which are an error in the mesh. If
/// three or more cells have the same face, two of these cells are each other's neighbours. If the cells with the same
/// face are on several ranks, further pairs of these cells may be each other's neighbours, and face_neighbours() may
/// return `no_cell` for one of the cells instead of `third_cell`.
inline constexpr PetscInt third_cell = -2;

/// Returns the cell number of the neighbour of each cell across the face opposite to each corner: [this rank's cells,
/// 4]. Cells are numbered consecutively from rank to rank. `corners` [this rank's cells, 4]: corners of each
/// tetrahedron, as vertex numbers from 0 to num_vertices - 1. Collective.
std::vector<PetscInt> face_neighbours(MPI_Comm comm, const std::vector<PetscInt>& corners, std::int64_t num_vertices);

}  // namespace diffsim
