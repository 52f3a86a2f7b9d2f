// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Reads and validates a whole unstructured grid in VTK's XML format (.vtu). Serial.
///
/// Data arrays may be text, inline base64, or appended (raw or base64). Binary data may be uncompressed or compressed
/// by zlib, in either byte order, and with 32-bit or 64-bit headers. The pieces of a file (XML elements Piece) are
/// concatenated. Depending on the cell kind `kind`, the cells are the file's vertices, lines and polylines, triangles,
/// or tetrahedra of 4 or 10 nodes, including VTK's Lagrange cells. The arguments `order` and `scale` have the same
/// meaning as in read_gmsh().
///
/// Each integer array with one component defines regions of cells or points, one region for each value. The region of
/// the value 7 of an array `part`, for example, has the name `part=7`. One cell array is an exception: the first array
/// of the list `region`, `CellEntityIds`, `gmsh:physical`, `cell_tags`, `medit:ref`, `nastran:ref` that the file
/// contains as a cell array. The name of a region of this array is the value alone, for example `7`. An array defines
/// no regions if the name of the array begins with `vtk`, if the array has more than 1000 different values, or if a
/// value of the array exceeds 32 bits. If the cells are tetrahedra, a region of triangles becomes a region of faces,
/// and a region of lines or vertices becomes a region of vertices.
///
/// Throws InputError if the file cannot be read or is not valid. The error message names the file, and either the line
/// and the array in the XML or the index of the cell in the file (counted from 0). InputError is also thrown if
/// validate_cells() or validate_lower_cells() rejects the mesh.
MeshData read_vtu(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                  CellKind kind = CellKind::tetrahedron);

/// Variant of `read_vtu` for a file whose contents are already in memory. `name_for_errors`: file name for error
/// messages.
MeshData parse_vtu(std::string_view content, const std::string& name_for_errors, double scale = 1.0,
                   bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
