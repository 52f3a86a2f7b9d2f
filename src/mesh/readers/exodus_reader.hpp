// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns true if this library was built with netCDF (DIFFSIM_WITH_NETCDF) and can therefore read Exodus files.
bool reads_exodus();

/// Reads and validates a whole Exodus II mesh (.e, .exo, .ex2, .g, .gen; from Cubit, MOOSE, Sierra). Serial.
///
/// The file may have any of the netCDF formats (classic, 64-bit, netCDF-4). `kind`, `order` and `scale` have the same
/// meaning as in read_gmsh(). Element blocks become regions of cells, side sets become regions of faces of tetrahedra,
/// and node sets become regions of vertices. The name of a region is the name of its block or set, or the number of the
/// block or set if the block or set has no name. Side sets are ignored if the cells are not tetrahedra.
///
/// Throws InputError if the library was built without netCDF, if netCDF cannot read the file, and if validate_cells()
/// or validate_lower_cells() rejects the mesh. Messages give element numbers of the file, counted from 1.
MeshData read_exodus(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                     CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
