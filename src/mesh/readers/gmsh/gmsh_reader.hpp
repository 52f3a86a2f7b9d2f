// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Reads and validates a whole Gmsh mesh (format 2.2 or 4.1, ASCII or binary of either byte order). Serial.
///
/// Vertices keep the order of the file's nodes, and cells keep the order of the file's elements of the cell kind
/// `kind`. Physical groups become regions, which are sorted by decreasing dimension, then by tag. A physical group that
/// has a name but no elements becomes an empty region. The lists of the cells, faces and vertices that belong to
/// regions are sorted by region, then by cell or vertex number, and contain no duplicates. A face of a region that two
/// cells share is listed as a face of the cell with the lower number. Elements of lower dimension than the cells are
/// read only if they belong to a physical group. Sections of the file that do not describe the mesh are skipped.
///
/// If `order` is 2, second-order cells keep all ten nodes, so edges may be curved; triangles and lines of physical
/// groups may be of first or second order. If `order` is 1, only the corners of elements are read, and the mid-edge
/// nodes become vertices that belong to no cell. The reader does not raise the order of linear cells if `order` is 2;
/// elevate() converts linear cells to second order. A file that contains both linear and second-order tetrahedra is
/// rejected.
///
/// If `kind` is not CellKind::tetrahedron, the cells are the file's triangles, lines or points, whether or not they
/// belong to a physical group; only the corners of the triangles and lines are kept, and elements of higher dimension
/// are skipped. A file without cells of kind `kind` is rejected; the error message lists the kinds of cells that the
/// file has.
///
/// The coordinates in the file, multiplied by `scale`, are in metres. The returned mesh has passed validate_cells() or
/// validate_lower_cells() (mesh/validate.hpp). Throws InputError if the file cannot be read or is not valid; the
/// message names the file and the line. For an error in the data of a section of a binary file, the error message names
/// the line of the section's header and ends with the byte offset of the error.
MeshData read_gmsh(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                   CellKind kind = CellKind::tetrahedron);

/// Variant of `read_gmsh` for a file whose contents are already in memory. `name_for_errors`: file name for error
/// messages.
MeshData parse_gmsh(std::string_view content, const std::string& name_for_errors, double scale = 1.0,
                    bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
