// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Graph of cells in compressed row format, for the partition of a mesh. Tetrahedra with a common face, triangles with
/// a common edge and segments with a common end are neighbours. The cells of the graph are numbered consecutively from
/// rank to rank.
struct DualGraph {
  std::vector<PetscInt> begin;  ///< index in `neighbours` of the first neighbour of each cell: [this rank's cells + 1]
  std::vector<PetscInt> neighbours;  ///< numbers of the neighbours, on any rank, of each cell of this rank
};

/// Builds the dual graph of tetrahedra: tetrahedra with a common face are neighbours. The neighbours of a cell are in
/// the order of the cell's faces; face i is opposite to corner i.
///
/// `corners` [this rank's cells, 4]: corners of each tetrahedron, as vertex numbers from 0 to num_vertices - 1.
/// dual_graph() frees the array `corners`, one of the largest arrays of the mesh set-up, as soon as the neighbours are
/// known. If three cells have the same face, only two of the three cells become neighbours. Collective.
DualGraph dual_graph(MPI_Comm comm, std::vector<PetscInt> corners, std::int64_t num_vertices);

/// Adds the points, segments or triangles with the given corners (num_corners = 1, 2 or 3) to a graph that is stored
/// completely on this rank. `corners`: [cells, num_corners].
///
/// Triangles with a common edge become neighbours, and segments with a common end become neighbours. If more than two
/// cells share an edge or an end, each of these cells becomes a neighbour of only the previous and the next of these
/// cells, in the order of the cell numbers. Serial.
void add_cells(DualGraph& graph, const std::vector<PetscInt>& corners, int num_corners);

}  // namespace diffsim
