// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "diffsim/core/file_order.hpp"

namespace diffsim {

/// The vertices that this rank has, in the file's order: those of its cells, and further ghosts.
struct LocalNodes {
  std::vector<std::int64_t> file_index;  ///< [local vertices], ascending
  std::vector<char> is_ghost;            ///< [local vertices]
  std::vector<int> cells;                ///< [local cells, nodes per cell]

  /// Place in `file_index` of a vertex that this rank has.
  int place(std::int64_t vertex) const;
};

/// `file_cells` [local cells, nodes per cell]: the file's vertex numbers. A vertex is owned by the lowest rank that has
/// a cell at it. `others`: vertices of other ranks' cells that this rank is to have, too. Collective.
LocalNodes local_nodes(MPI_Comm comm, const std::vector<std::int64_t>& file_cells,
                       const std::vector<std::int64_t>& others, std::int64_t num_vertices);

/// For each ghost of `vertices` (owned ones come first), the rank that owns it and its index there. Collective.
void ghost_owners(MPI_Comm comm, const FileOrder& vertices, int num_owned, std::vector<PetscInt>& owner,
                  std::vector<PetscInt>& index);

}  // namespace diffsim
