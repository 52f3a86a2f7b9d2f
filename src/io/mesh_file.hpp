// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

// Mesh files in HDF5, for meshes too large for the memory of one rank:
//
//   /vertices [N, 3] m
//   /cells [C, 4] vertex numbers, positively oriented; second-order: [C, 10], the four corners, then the nodes on
//   the edges 01, 12, 02, 03, 13, 23 (see element.hpp)
//   /triangles [C, 3], /segments [C, 2], /points [C, 1]: cells of these kinds
//   /regions/names [R], /regions/dimensions [R], /regions/tags [R]
//   /regions/cells [·, 2] (cell, region)
//   /regions/faces [·, 3] (cell, face opposite to its local vertex 0 … 3, region)
//   /regions/vertices [·, 2] (vertex, region)
//   /regions/triangles, /regions/segments, /regions/points [·, 2] (cell of that kind, region)
//
// A dataset of cells that does not exist means that there are no cells of that kind; without /regions/names there are
// no regions. The rows of /regions/cells, /regions/faces and the other membership lists may be in any order. All
// numbers are 0-based; the number of a region is its index in /regions/names.

/// Reads an evenly sized block of vertices and of cells on each rank, with the regions of both, and checks the mesh
/// like validate_cells (same limits, same order of checks). Coordinates are multiplied by `scale`, to give metres.
/// Second-order cells keep their edge nodes if `order` is 2; otherwise only their corners are kept. Each rank stores
/// only its blocks: about 400 bytes per linear cell at the peak, 1000 per second-order cell. Throws InputError naming
/// the dataset. Collective.
MeshData read_mesh_file(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false, int order = 1);

/// Reads all vertices of the file and all its cells of a kind other than tetrahedra, with their regions, and checks
/// these cells like validate_lower_cells. Throws InputError if the file has no cells of that kind; the message lists
/// the kinds that the file has. Serial.
MeshData read_lower_mesh_file(const std::string& path, CellKind kind, double scale = 1.0,
                              bool allow_coincident_vertices = false);

/// Writes the blocks of all ranks, in the order of the ranks. Collective.
void write_mesh_file(MPI_Comm comm, const std::string& path, const MeshData& mesh);

}  // namespace diffsim
