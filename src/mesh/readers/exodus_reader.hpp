// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns true if this library was built with netCDF (DIFFSIM_WITH_NETCDF) and can therefore read Exodus files.
bool reads_exodus();

/// Reads and validates a whole Exodus II mesh (.e, .exo, .ex2, .g, .gen; from Cubit, MOOSE, Sierra). Serial.
///
/// An Exodus file may have any of the netCDF formats (classic, 64-bit, netCDF-4). The arguments `kind`, `order` and
/// `scale` have the same meaning as in read_gmsh(). Element blocks with cells of the kind `kind` become regions of
/// cells, side sets become regions of faces of tetrahedra, and node sets become regions of vertices. Element blocks
/// with elements of lower dimension than the cells become regions of faces (triangles) or regions of vertices (bars,
/// beams, points). The name of a region is the name of the element block, side set or node set, or the number of a
/// block or set without a name. Side sets are ignored if `kind` is not CellKind::tetrahedron.
///
/// Throws InputError if the library was built without netCDF, if netCDF cannot read the file, or if validate_cells() or
/// validate_lower_cells() rejects the mesh. Error messages give element numbers of the file, counted from 1.
MeshData read_exodus(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                     CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
