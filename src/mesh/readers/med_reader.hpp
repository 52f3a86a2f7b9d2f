// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns true if this library was built with the MED library (DIFFSIM_WITH_MED).
bool reads_med();

/// Reads and validates the whole mesh of a MED file (.med; from Salome and Code_Aster). Serial.
///
/// The file must have exactly one mesh, which must be unstructured; if the mesh has several time steps, the first time
/// step is read. `kind`, `order` and `scale` have the same meaning as in read_gmsh(). Groups of elements become regions
/// of the dimension of the elements, and groups of nodes become regions of dimension 0. The groups are numbered from 1
/// in alphabetical order of their names; the tag of a region is the number of its group. MED tetrahedra have the
/// opposite orientation to mesh/impl/element.hpp, but some programs write the orientation of element.hpp; the reader
/// assumes that all tetrahedra of a file have the orientation of the first tetrahedron.
///
/// Throws InputError if the library was built without MED, if the file is not a MED file, if the MED library cannot
/// read the file, and if validate_cells() or validate_lower_cells() rejects the mesh. In messages, elements are
/// numbered consecutively from 1, one element type after the other.
MeshData read_med(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                  CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
