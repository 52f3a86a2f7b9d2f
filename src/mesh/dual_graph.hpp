// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Which cells have a face in common. Cells are numbered from rank to rank.
struct DualGraph {
  std::vector<PetscInt> begin;       ///< [this rank's cells + 1], places in `neighbours`
  std::vector<PetscInt> neighbours;  ///< cells of any rank, in the order of the faces: opposite to corner 0, 1, …
};

/// `corners` [this rank's cells, 4]: vertices 0 … num_vertices - 1 of the whole mesh; freed on the way, since nothing
/// else is as large when a mesh is set up. A face that three cells claim joins two of them. Collective.
DualGraph dual_graph(MPI_Comm comm, std::vector<PetscInt> corners, std::int64_t num_vertices);

/// Adds cells with so many corners, 1 to 3, to a graph that one rank has whole: cells with a common edge (triangles) or
/// a common end (segments) are neighbours; where more than two have it, each and the next one. `corners` [cells,
/// num_corners]. Serial.
void add_cells(DualGraph& graph, const std::vector<PetscInt>& corners, int num_corners);

}  // namespace diffsim
