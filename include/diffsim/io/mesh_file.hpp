// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

// Meshes in HDF5, for those too large for one rank's memory:
//
//   /vertices [N, 3] m, /cells [C, 4] vertex numbers, positively oriented; second-order: [C, 10], the six after the
//   corners on the edges 01, 12, 02, 03, 13, 23 (see element.hpp)
//   /triangles [C, 3], /segments [C, 2], /points [C, 1]: cells of these kinds; none of /cells and these: no such cells
//   /regions/names [R], /regions/dimensions [R], /regions/tags [R]; none: no regions
//   /regions/cells [·, 2] (cell, region), /regions/faces [·, 3] (cell, face opposite to its local vertex 0 … 3,
//   region), /regions/vertices [·, 2] (vertex, region), /regions/triangles, /regions/segments, /regions/points [·, 2]
//   (cell of that kind, region); in any order
//
// Numbers are 0-based; those of regions count in /regions/names.

/// Reads an even block of vertices and of cells on each rank, with their regions, and checks the mesh as validate_cells
/// does (same limits, same order of checks). `scale` multiplies coordinates, to metres. Second-order cells keep the
/// nodes on their edges if `order` is 2, else they are read by their corners. Each rank holds its share only: about 400
/// bytes a linear cell at the peak, 1000 a second-order one. Throws InputError naming the dataset. Collective.
MeshData read_mesh_file(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false, int order = 1);

/// Reads the file's vertices and its cells of a kind below tetrahedra, with their regions, whole, and checks them as
/// validate_lower_cells does. Throws InputError for a file without such cells, naming those it has. Serial.
MeshData read_lower_mesh_file(const std::string& path, CellKind kind, double scale = 1.0,
                              bool allow_coincident_vertices = false);

/// Writes the ranks' blocks, which follow each other from rank to rank. Collective.
void write_mesh_file(MPI_Comm comm, const std::string& path, const MeshData& mesh);

}  // namespace diffsim
