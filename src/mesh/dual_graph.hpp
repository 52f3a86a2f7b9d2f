// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Graph of cells in compressed row format, for the partition of a mesh: cells with a common face are neighbours. Cells
/// are numbered consecutively from rank to rank.
struct DualGraph {
  std::vector<PetscInt> begin;       ///< first index in `neighbours` of each cell: [this rank's cells + 1]
  std::vector<PetscInt> neighbours;  ///< neighbours of each cell, on any rank
};

/// Builds the graph of tetrahedra with a common face. The neighbours of a cell are in the order of the cell's faces;
/// face i is opposite to corner i.
///
/// `corners` [this rank's cells, 4]: vertices 0 … num_vertices - 1 of the whole mesh. The function frees this array,
/// which is one of the largest arrays of the mesh set-up, as soon as the neighbours are known. If three cells have the
/// same face, only two of the three become neighbours. Collective.
DualGraph dual_graph(MPI_Comm comm, std::vector<PetscInt> corners, std::int64_t num_vertices);

/// Adds the points, segments or triangles with the given corners (num_corners = 1, 2 or 3) to a graph that is stored
/// completely on this rank. `corners`: [cells, num_corners].
///
/// Triangles with a common edge are neighbours, and so are segments with a common end. If more than two cells share an
/// edge or end, each of these cells is a neighbour of the previous and the next one, by cell number. Serial.
void add_cells(DualGraph& graph, const std::vector<PetscInt>& corners, int num_corners);

}  // namespace diffsim
