// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

// Mesh files in HDF5, for meshes too large for the memory of one rank:
//
//   /vertices [N, 3], in m
//   /cells [C, 4] vertex numbers, positively oriented; second-order: [C, 10], the four corners, then the nodes on
//   the edges (0,1), (1,2), (0,2), (0,3), (1,3), (2,3) (see element.hpp)
//   /triangles [C, 3], /segments [C, 2], /points [C, 1]: cells of these kinds
//   /regions/names [R], /regions/dimensions [R], /regions/tags [R]
//   /regions/cells [rows, 2] (cell, region)
//   /regions/faces [rows, 3] (cell, number 0 … 3 of the corner opposite to the face, region)
//   /regions/vertices [rows, 2] (vertex, region)
//   /regions/triangles, /regions/segments, /regions/points [rows, 2] (cell of that kind, region)
//
// If a dataset of cells does not exist, the mesh has no cells of that kind. If /regions/names does not exist, the mesh
// has no regions. The rows of /regions/cells, /regions/faces and the other membership lists may be in any order. All
// numbers of vertices, cells and regions are 0-based; the number of a region is its index in /regions/names.

/// Reads a mesh file: on each rank, a block of the vertices, a block of the tetrahedra, and the regions to which these
/// vertices, these tetrahedra and their faces belong. Checks the mesh. The blocks of vertices and of tetrahedra have
/// nearly equal size on all ranks. read_mesh_file() makes the checks of validate_cells(), with the same thresholds and
/// in the same order. The coordinates in the file, multiplied by `scale`, are in metres. If `order` is 2, the mid-edge
/// nodes of second-order cells are kept; otherwise only the corners of these cells are kept. Each rank stores only its
/// blocks of vertices and cells; the peak memory of a rank is about 400 bytes per linear cell, or 1000 bytes per
/// second-order cell, of the rank's block. Throws InputError if `scale` is not a positive number, or if the file is not
/// a valid mesh file; for an invalid file, the error message names the file and, for an invalid dataset, the dataset.
/// Collective.
MeshData read_mesh_file(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false, int order = 1);

/// Reads all vertices of a mesh file, all cells of the kind `kind`, which must not be tetrahedra, and the regions to
/// which these vertices and cells belong. Calls validate_lower_cells() to check the cells that were read. Throws
/// InputError if the file has no cells of the kind `kind`; the error message lists the kinds of cells that the file
/// has. Serial.
MeshData read_lower_mesh_file(const std::string& path, CellKind kind, double scale = 1.0,
                              bool allow_coincident_vertices = false);

/// Writes a mesh file with the vertices, the cells and the region memberships of all ranks' blocks, in the order of the
/// ranks. Collective.
void write_mesh_file(MPI_Comm comm, const std::string& path, const MeshData& mesh);

}  // namespace diffsim
