// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Reads a mesh file. From HDF5 files (see mesh_file.hpp) each rank reads a block of consecutive vertices and a block
/// of consecutive tetrahedra; the blocks of all ranks have nearly equal size. Gmsh (see gmsh_reader.hpp), VTU (see
/// vtu_reader.hpp), MED (see med_reader.hpp), Exodus (see exodus_reader.hpp) and OBJ, STL and PLY files (see
/// polygon_reader.hpp) are read on rank 0, and the blocks of all other ranks are empty. `scale` converts coordinates to
/// metres. If diffsim recognises the format of the file but cannot read it, throws an InputError that says how to
/// convert the file.
///
/// The mesh consists of the file's cells of the given `kind`. OBJ, STL and PLY files have no tetrahedra. Cells other
/// than tetrahedra are read on rank 0 from files of any format.
///
/// `order` is the order of the tetrahedra, 1 or 2. With order 1, only the corners of a second-order file's cells are
/// used; the mid-edge nodes keep their numbers and become vertices that belong to no cell. With order 2, elevate() adds
/// mid-edge nodes to the tetrahedra of a first-order file. Throws the same InputError on every rank if the file cannot
/// be read or the mesh is not valid. Two vertices at the same position are valid only if `allow_coincident_vertices` is
/// true. The message names the file, and the line or the dataset. Collective.
MeshData read_mesh_data(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

/// Reads the triangles of a file of any format. OBJ, STL and PLY files are read by read_triangles(). For files of other
/// formats, the result does not contain vertices that belong to no triangle. `scale` converts coordinates to metres.
/// Serial.
TriangleMesh read_surface(const std::string& path, double scale = 1.0);

/// Reads and partitions a mesh of tetrahedra. `quadrature_degree` is passed to TetrahedralMesh. Collective.
std::shared_ptr<TetrahedralMesh> read_mesh(MPI_Comm comm, const std::string& path, double scale = 1.0,
                                           bool allow_coincident_vertices = false, int order = 1,
                                           std::optional<int> quadrature_degree = {});

}  // namespace diffsim
