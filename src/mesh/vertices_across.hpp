// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Returns the vertices across the sides of this rank's triangles or segments: [this rank's cells, num_corners]. Side i
/// is opposite to corner i. The vertex across side i is the corner opposite to this side in the other cell that has the
/// side. The value is `no_vertex_across` if there is no other cell, and `many_vertices_across` if there are several.
///
/// Sides of triangles (num_corners = 3) are edges; sides of segments (num_corners = 2) are ends. `corners` [this rank's
/// cells, num_corners]: vertices 0 … num_vertices - 1 of the whole mesh. All vertices are given by their numbers in the
/// mesh file. Collective.
std::vector<std::int64_t> vertices_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                          std::int64_t num_vertices);

/// Returns, for each side of this rank's cells, the given value of the other cell that has this side: [this rank's
/// cells, num_corners]. The sides, and the meaning of `no_vertex_across` and `many_vertices_across`, are as in
/// vertices_across(). `numbers` [this rank's cells]: given value of each cell. Collective.
std::vector<std::int64_t> numbers_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                         const std::vector<std::int64_t>& numbers, std::int64_t num_vertices);

/// Returns, for each side of this rank's triangles, the vertices across the other two sides of the neighbouring
/// triangle: [this rank's triangles, 3, 2].
///
/// Side i of a triangle is the edge between the triangle's corners i + 1 and i + 2 (modulo 3). Let T be the triangle
/// across side i. The first value of side i is the vertex across the other side of T at corner i + 1, and the second
/// value is the vertex across the other side of T at corner i + 2. Each value may also be `no_vertex_across` or
/// `many_vertices_across`. Both values are `no_vertex_across` if side i does not have exactly one neighbour T.
/// `across`: result of vertices_across(). Collective.
std::vector<std::int64_t> vertices_beyond(MPI_Comm comm, const std::vector<std::int64_t>& corners,
                                          const std::vector<std::int64_t>& across, std::int64_t num_vertices);

}  // namespace diffsim
