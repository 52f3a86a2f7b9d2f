// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/file_order.hpp"

namespace diffsim {

/// Vertices of this rank in file order: the vertices of the rank's cells, and additional ghosts (copies of vertices
/// that other ranks own).
struct LocalNodes {
  std::vector<std::int64_t> file_index;  ///< numbers, in the mesh file, of the local vertices, in ascending order
  std::vector<char> is_ghost;            ///< one entry per local vertex: non-zero if the vertex is a ghost
  std::vector<int> cells;                ///< nodes of this rank's cells, as indices into `file_index`

  /// Returns the index in `file_index` of the vertex with the number `vertex` in the mesh file; the vertex must be on
  /// this rank.
  int place(std::int64_t vertex) const;
};

/// Finds the vertices of this rank, and which of these vertices are ghosts. A vertex is owned by the lowest rank with a
/// cell at the vertex.
///
/// `file_cells`: numbers, in the mesh file, of the nodes of this rank's cells, one cell after the other. `others`:
/// numbers, in the mesh file, of additional ghosts, which belong to cells of other ranks. Collective.
LocalNodes local_nodes(MPI_Comm comm, const std::vector<std::int64_t>& file_cells,
                       const std::vector<std::int64_t>& others, std::int64_t num_vertices);

/// Sets `owner` [ghosts] to the rank that owns each ghost, and `index` [ghosts] to the local number of the ghost on the
/// owner. `vertices`: mapping between this rank's vertices, owned vertices first, and the order of the mesh file.
/// Collective.
void ghost_owners(MPI_Comm comm, const FileOrder& vertices, int num_owned, std::vector<PetscInt>& owner,
                  std::vector<PetscInt>& index);

}  // namespace diffsim
