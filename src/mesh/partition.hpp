// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Up to so many cells, one rank partitions them all: PTScotch on several ranks need not give equal parts in equal
/// runs.
inline constexpr std::int64_t cells_of_one_rank = 2000000;

/// Numbers in the file of the cells that this rank shall have, ascending.
struct CellParts {
  std::vector<std::int64_t> cells;
  std::array<std::vector<std::int64_t>, 3> lower_cells;  ///< of each of `lower_kinds`
};

/// Spreads the cells of all kinds over the ranks of `comm`, as many to each, so that few faces, edges and points
/// between cells are cut. Up to `by_one` cells are partitioned by one rank, with Scotch; more tetrahedra by all ranks
/// together, with PETSc's partitioner (PTScotch; `-petscpartitioner_type` chooses another), and the other cells by one
/// rank. Collective.
CellParts partition_cells(MPI_Comm comm, const MeshData& data, std::int64_t by_one = cells_of_one_rank);

}  // namespace diffsim
