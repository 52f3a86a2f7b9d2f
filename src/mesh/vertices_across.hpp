// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// For each side of this rank's cells, opposite to corner 0, 1 …, the vertex beyond it of the other cell that has the
/// side, or `no_vertex_across`, or `many_vertices_across`: [this rank's cells, num_corners], numbers of the file. Sides
/// of triangles (num_corners = 3) are edges, those of segments (2) ends. `corners` [this rank's cells, num_corners]:
/// vertices 0 … num_vertices - 1 of the whole mesh. Collective.
std::vector<std::int64_t> vertices_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                          std::int64_t num_vertices);

/// For each side of this rank's cells, as `vertices_across`, a number of the other cell in place of its vertex.
/// `numbers`: one for each of this rank's cells.
std::vector<std::int64_t> numbers_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                         const std::vector<std::int64_t>& numbers, std::int64_t num_vertices);

/// For each side of this rank's triangles, opposite to corner 0, 1, 2, and each end of it, corners 1, 2 and 0 before
/// corners 2, 0 and 1: the vertex across the other side there of the triangle beyond. `across`: what `vertices_across`
/// returns. [this rank's triangles, 3, 2], or `no_vertex_across`, or `many_vertices_across`. Collective.
std::vector<std::int64_t> vertices_beyond(MPI_Comm comm, const std::vector<std::int64_t>& corners,
                                          const std::vector<std::int64_t>& across, std::int64_t num_vertices);

}  // namespace diffsim
