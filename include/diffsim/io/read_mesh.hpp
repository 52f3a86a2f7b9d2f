// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "diffsim/mesh/polygon_reader.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Reads a mesh file of any format: HDF5 in even blocks on all ranks (see mesh_file.hpp); on rank 0, where the blocks
/// of the others are empty, Gmsh (see gmsh_reader.hpp), VTU (see vtu_reader.hpp), MED (see med_reader.hpp), Exodus (see
/// exodus_reader.hpp) and OBJ, STL and PLY (see polygon_reader.hpp). `scale` multiplies coordinates, to metres. Of
/// other known formats the error says how to convert.
///
/// The mesh has the file's cells of `kind`. OBJ, STL and PLY have no tetrahedra. Cells below
/// tetrahedra are read on rank 0 from any file.
///
/// Tetrahedra are of that `order`, 1 or 2. Of a second-order file, order 1 takes the corners of cells; the nodes on
/// edges keep their numbers, as vertices that no cell has. A linear file becomes second-order by elevate(). Throws
/// InputError with file and line or dataset, the same on every rank. Collective.
MeshData read_mesh_data(MPI_Comm comm, const std::string& path, double scale = 1.0,
                        bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

/// The triangles of a file of any format, as read_triangles() gives those of OBJ, STL and PLY; of other files without
/// the vertices that no triangle has. Serial.
TriangleMesh read_surface(const std::string& path, double scale = 1.0);

/// Reads and partitions it; `quadrature_degree` as TetrahedralMesh takes it.
std::shared_ptr<TetrahedralMesh> read_mesh(MPI_Comm comm, const std::string& path, double scale = 1.0,
                                           bool allow_coincident_vertices = false, int order = 1,
                                           std::optional<int> quadrature_degree = {});

}  // namespace diffsim
