// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Reads a mesh file. Each rank reads a block of consecutive vertices and a block of consecutive tetrahedra from an
/// HDF5 file (see mesh_file.hpp); the blocks of all ranks have nearly equal size. Files of all other formats are read
/// on rank 0, and the blocks of the mesh on all other ranks are empty: Gmsh (gmsh_reader.hpp), VTU (vtu_reader.hpp),
/// MED (med_reader.hpp), Exodus (exodus_reader.hpp), and OBJ, STL and PLY (polygon_reader.hpp). `scale`: factor that
/// converts the coordinates in the file to metres. Throws Error of kind `input` if diffsim recognises but does not
/// support the format of the file; the message says how to convert the file.
///
/// The returned mesh consists of the file's cells of the kind `kind`. OBJ, STL and PLY files have no tetrahedra. For
/// every supported format, cells other than tetrahedra are read on rank 0.
///
/// `order`: order of the returned tetrahedra, 1 or 2. With `order` = 1, the tetrahedra have the corners of the file's
/// cells; mid-edge nodes of second-order cells keep their numbers and become vertices that belong to no cell. With
/// `order` = 2, elevate() adds mid-edge nodes to linear tetrahedra of the file. Throws the same Error of kind `input`
/// on every rank if the file cannot be read or the mesh is not valid. The message names the file, and the line or the
/// dataset with the error. A mesh with two vertices at the same position is valid only if the argument
/// `allow_coincident_vertices` is true. Collective.
MeshData read_mesh_data(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

/// Reads the triangles of a mesh file of any supported format. OBJ, STL and PLY files are read by read_triangles(). For
/// formats other than OBJ, STL and PLY, vertices that belong to no triangle are omitted. `scale`: factor that converts
/// the coordinates in the file to metres. Serial.
TriangleMesh read_surface(const std::string& path, double scale = 1.0);

/// Reads and partitions a mesh of tetrahedra. The argument `quadrature_degree` is passed to the constructor of
/// TetrahedralMesh. Collective.
std::shared_ptr<TetrahedralMesh> read_mesh(MPI_Comm comm, const std::string& path, double scale = 1.0,
                                           bool allow_coincident_vertices = false, int order = 1,
                                           std::optional<int> quadrature_degree = {});

}  // namespace diffsim
