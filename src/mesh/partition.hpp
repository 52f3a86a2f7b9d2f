// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Up to so many cells, one rank partitions them all: PTScotch on several ranks need not give equal parts in equal
/// runs.
inline constexpr std::int64_t cells_of_one_rank = 2000000;

/// Spreads the cells over the ranks of `comm` so that few faces are cut: the file's numbers of this rank's cells,
/// ascending. Up to `by_one` cells are partitioned by one rank, with Scotch; more by all ranks together, with PETSc's
/// partitioner (PTScotch; `-petscpartitioner_type` chooses another). Collective.
std::vector<std::int64_t> partition_cells(MPI_Comm comm, const MeshData& data, std::int64_t by_one = cells_of_one_rank);

}  // namespace diffsim
