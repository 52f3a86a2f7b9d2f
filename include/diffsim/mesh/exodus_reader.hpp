// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Whether this library was built with netCDF (DIFFSIM_WITH_NETCDF), in whose files Exodus meshes are.
bool reads_exodus();

/// Reads an Exodus II mesh (.e, .exo, .ex2, .g, .gen; of Cubit, MOOSE, Sierra) whole by netCDF and checks it; serial.
///
/// Files are of any of netCDF's formats (classic, 64-bit, netCDF-4). Cells of `kind`, `order` and `scale` as in
/// read_gmsh(). Element blocks are regions of their elements, side sets of faces of tetrahedra, node sets of vertices,
/// by name, else by number. Side sets are left out where the cells are not tetrahedra.
///
/// Throws InputError for a library built without netCDF, what netCDF cannot read, and what validate_cells() or
/// validate_lower_cells() refuses; elements are named by their number in the file, from 1.
MeshData read_exodus(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                     CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
