// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace diffsim {

/// Returns an array [this rank's cells, num_corners] with the vertex across each side of this rank's triangles or
/// segments. Side i of a cell is opposite to the cell's corner i. The vertex across a side of a cell is the corner
/// opposite to the side in the other cell that has the side. The value for a side is `no_vertex_across` if no other
/// cell has the side, and `many_vertices_across` if several other cells have the side.
///
/// Sides of triangles (num_corners = 3) are edges; sides of segments (num_corners = 2) are ends. `corners` [this rank's
/// cells, num_corners]: corners of the cells. Vertices in the array `corners` and in the returned array are numbered 0
/// … num_vertices - 1 over the whole mesh, in the order of the mesh file. Collective.
std::vector<std::int64_t> vertices_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                          std::int64_t num_vertices);

/// Returns an array [this rank's cells, num_corners] with, for each side of this rank's cells, the value in the array
/// `numbers` of the neighbouring cell that has the same side. The sides of a cell, `no_vertex_across` and
/// `many_vertices_across` are defined as for vertices_across(). `numbers` [this rank's cells]: an arbitrary value for
/// each cell. Collective.
std::vector<std::int64_t> numbers_across(MPI_Comm comm, const std::vector<std::int64_t>& corners, int num_corners,
                                         const std::vector<std::int64_t>& numbers, std::int64_t num_vertices);

/// Returns an array [this rank's triangles, 3, 2] with, for each side of this rank's triangles, the two results of
/// vertices_across() for the other two sides of the neighbouring triangle.
///
/// Side i of a triangle is the edge from corner p = i + 1 to corner q = i + 2 (modulo 3). Let T be the other triangle
/// that has side i. The first value for side i is the result of vertices_across() for the other side of T that ends at
/// p. The second value is the result for the other side of T that ends at q. Each value is a vertex number,
/// `no_vertex_across` or `many_vertices_across`. Both values for a side are `no_vertex_across` unless exactly two
/// triangles have the side. `across`: result of vertices_across(). Collective.
std::vector<std::int64_t> vertices_beyond(MPI_Comm comm, const std::vector<std::int64_t>& corners,
                                          const std::vector<std::int64_t>& across, std::int64_t num_vertices);

}  // namespace diffsim
