// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Default of the argument `by_one` of partition_cells(): one rank alone partitions meshes of at most this number of
/// tetrahedra. Larger meshes are by default partitioned by PTScotch on all ranks; PTScotch may return different parts
/// in identical runs.
inline constexpr std::int64_t cells_of_one_rank = 2000000;

/// Numbers in the mesh file, in ascending order, of the cells that the partition assigns to this rank.
struct CellParts {
  std::vector<std::int64_t> cells;                       ///< numbers of the tetrahedra
  std::array<std::vector<std::int64_t>, 3> lower_cells;  ///< numbers of the points, segments and triangles, a list each
};

/// Distributes the cells of all kinds over the ranks of `comm`, with nearly equal work (CellWork) on all ranks, and few
/// faces, edges and points between cells of different ranks.
///
/// If the mesh has at most `by_one` tetrahedra, one rank partitions all cells with Scotch. If the mesh has more than
/// `by_one` tetrahedra, all ranks together partition the tetrahedra with PETSc's partitioner (PTScotch by default; the
/// option `-petscpartitioner_type` selects another partitioner), and one rank partitions the cells of all other kinds.
/// Collective.
CellParts partition_cells(MPI_Comm comm, const MeshData& data, std::int64_t by_one = cells_of_one_rank);

}  // namespace diffsim
