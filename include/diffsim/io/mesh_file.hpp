// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

// Meshes in HDF5, for those too large for one rank's memory:
//
//   /vertices [N, 3] m, /cells [C, 4] vertex numbers, positively oriented
//   /regions/names [R], /regions/dimensions [R], /regions/tags [R]; none: no regions
//   /regions/cells [·, 2] (cell, region), /regions/faces [·, 3] (cell, face opposite to its local vertex 0 … 3,
//   region), /regions/vertices [·, 2] (vertex, region); in any order
//
// Numbers are 0-based; those of regions count in /regions/names.

/// Reads an even block of vertices and of cells on each rank, with their regions, and checks the mesh as validate_cells
/// does (same limits, same order of checks). `scale` multiplies coordinates, to metres. Each rank holds its share only:
/// about 400 bytes a cell at the peak. Throws InputError naming the dataset. Collective.
MeshData read_mesh_file(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false);

/// Writes the ranks' blocks, which follow each other from rank to rank. Collective.
void write_mesh_file(MPI_Comm comm, const std::string& path, const MeshData& mesh);

}  // namespace diffsim
