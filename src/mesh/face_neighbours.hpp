// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Values for the other side of a face where that is no cell.
inline constexpr PetscInt no_cell = -1;
inline constexpr PetscInt third_cell = -2;  ///< two other cells have the face, too, and are each other's neighbours

/// [this rank's cells, 4]: the neighbour at the face opposite to each corner, cells being numbered from rank to rank.
/// `corners` [this rank's cells, 4]: vertices 0 … num_vertices - 1 of the whole mesh. Collective.
std::vector<PetscInt> face_neighbours(MPI_Comm comm, const std::vector<PetscInt>& corners, std::int64_t num_vertices);

}  // namespace diffsim
