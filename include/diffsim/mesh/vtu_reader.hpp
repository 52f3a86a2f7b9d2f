// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Reads an unstructured grid of VTK's XML format (.vtu) whole and checks it; serial.
///
/// Arrays may be text, base64 within the element, or appended, raw or base64, as they are or compressed by zlib, in
/// either byte order and with headers of 32 or 64 bits. Pieces follow each other. The cells of `kind` are vertices,
/// lines and polylines, triangles, or tetrahedra of 4 or 10 nodes, also those that VTK calls Lagrange cells; `order`
/// and `scale` as in read_gmsh().
///
/// Arrays of integers with one component are regions, of cells or of points, one for each value, called ARRAY=VALUE.
/// Of the first cell array there is of `region`, `CellEntityIds`, `gmsh:physical`, `cell_tags`, `medit:ref` and
/// `nastran:ref`, the name is the value alone. Arrays whose names begin with `vtk`, or with more than 1000 values, are
/// no regions. Where tetrahedra are read, triangles with a region are faces of these, and lines and vertices give their
/// vertices.
///
/// Throws InputError with file, line of the XML element and array, or with the cell as the file numbers it, from 0;
/// also for what validate_cells() or validate_lower_cells() refuses.
MeshData read_vtu(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                  CellKind kind = CellKind::tetrahedron);

/// The same for a file already in memory.
MeshData parse_vtu(std::string_view content, const std::string& name_for_errors, double scale = 1.0,
                   bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
