// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "diffsim/core/file_order.hpp"

namespace diffsim {

/// The vertices of this rank's cells, in the file's order.
struct LocalNodes {
  std::vector<std::int64_t> file_index;  ///< [local vertices], ascending
  std::vector<char> is_ghost;            ///< [local vertices]
  std::vector<int> cells;                ///< [local cells, nodes per cell]
};

/// `file_cells` [local cells, nodes per cell]: the file's vertex numbers. A vertex is owned by the lowest rank that has
/// a cell at it. Collective.
LocalNodes local_nodes(MPI_Comm comm, const std::vector<std::int64_t>& file_cells, std::int64_t num_vertices);

/// For each ghost of `vertices` (owned ones come first), the rank that owns it and its index there. Collective.
void ghost_owners(MPI_Comm comm, const FileOrder& vertices, int num_owned, std::vector<PetscInt>& owner,
                  std::vector<PetscInt>& index);

}  // namespace diffsim
