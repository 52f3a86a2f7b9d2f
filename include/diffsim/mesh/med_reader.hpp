// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Whether this library was built with MED's (DIFFSIM_WITH_MED).
bool reads_med();

/// Reads the mesh of a MED file (.med, of Salome and Code_Aster) whole by MED's library and checks it; serial.
///
/// The file has one unstructured mesh, of which the first time step counts. Cells of `kind`, `order` and `scale` as in
/// read_gmsh(). Groups of elements and of nodes become regions of the dimension of their elements, 0 for nodes; tags
/// count the groups' names in the alphabet's order, from 1. MED orders the corners of tetrahedra the other way round
/// than mesh/element.hpp; some programs do not, and the file's first tetrahedron tells which.
///
/// Throws InputError for a library built without MED's, a file that is none of MED, what MED's library cannot read,
/// and what validate_cells() or validate_lower_cells() refuses; elements are counted type by type, from 1.
MeshData read_med(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                  CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
