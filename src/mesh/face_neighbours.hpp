// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Result of face_neighbours() for a face of only one cell.
inline constexpr PetscInt no_cell = -1;
/// Result of face_neighbours() for the third and further cells with the same face, which are an error in the mesh. The
/// first two of these cells are each other's neighbours. If the cells are on several ranks, the third cell may have the
/// result `no_cell` instead.
inline constexpr PetscInt third_cell = -2;

/// Returns the neighbour of each cell across the face opposite to each corner: [this rank's cells, 4]. Cells are
/// numbered consecutively from rank to rank. `corners` [this rank's cells, 4]: vertices 0 … num_vertices - 1 of the
/// whole mesh. Collective.
std::vector<PetscInt> face_neighbours(MPI_Comm comm, const std::vector<PetscInt>& corners, std::int64_t num_vertices);

}  // namespace diffsim
