// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscdmplex.h>

#include <cstdint>
#include <vector>

#include "diffsim/core/petsc_handle.hpp"
#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

using DMHandle = PetscHandle<DM, DMDestroy>;

/// Who has which cells and corners after partitioning, in DMPlex's numbering of a rank.
struct Partition {
  std::vector<std::int64_t> cell_file_index;  ///< [local cells]
  std::vector<std::int64_t> vertex_file_index;
  std::vector<char> vertex_is_ghost;  ///< [local vertices]
};

/// Spreads the cells over the ranks of `comm` so that few faces are cut (PTScotch; `-petscpartitioner_type` chooses
/// another), without overlap. Collective.
Partition partition_cells(MPI_Comm comm, const MeshData& data);

}  // namespace diffsim
