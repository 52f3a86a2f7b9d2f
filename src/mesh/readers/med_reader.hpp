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
/// step is read. The arguments `kind`, `order` and `scale` have the same meaning as in read_gmsh(). Groups of elements
/// become regions of the dimension of the elements, and groups of nodes become regions of dimension 0. The groups of
/// the file are numbered from 1 in alphabetical order of their names; the tag of a region is the number of the group.
/// Tetrahedra in the MED format have the opposite orientation to the tetrahedra of mesh/impl/element.hpp, but some
/// programs write MED files with the orientation of element.hpp. The reader determines the orientation of the first
/// tetrahedron of a MED file, and assumes that all tetrahedra of the file have this orientation.
///
/// Throws InputError if the library was built without MED, if the file is not a MED file, if the MED library cannot
/// read the file, or if validate_cells() or validate_lower_cells() rejects the mesh. Error messages number the elements
/// of the file consecutively from 1, one element type after the other.
MeshData read_med(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                  CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
