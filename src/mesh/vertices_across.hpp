// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// For each side of this rank's triangles, opposite to corner 0, 1, 2, the third vertex of the other triangle that has
/// the side, or `no_vertex_across`, or `many_vertices_across`: [this rank's triangles, 3], numbers of the file.
/// `corners` [this rank's triangles, 3]: vertices 0 … num_vertices - 1 of the whole mesh. Collective.
std::vector<std::int64_t> vertices_across(MPI_Comm comm, const std::vector<std::int64_t>& corners,
                                          std::int64_t num_vertices);

}  // namespace diffsim
