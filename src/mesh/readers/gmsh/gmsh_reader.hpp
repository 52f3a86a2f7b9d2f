// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Reads and validates a whole Gmsh mesh (format 2.2 or 4.1, ASCII or binary of either byte order). Serial.
///
/// Vertices keep the order of the file's nodes, and cells keep the order of the file's elements of `kind`. Physical
/// groups become regions, sorted by dimension (3 first), then by tag. A group that has a name but no elements becomes
/// an empty region. The memberships of cells, faces and vertices in regions are sorted by region, then by cell or
/// vertex number, without duplicates. An interior face of a region is assigned to the lower-numbered of its two cells.
/// Triangles, lines and points without a group are skipped, and so are sections of the file that do not describe the
/// mesh.
///
/// If `order` is 2, second-order cells keep all ten nodes, so edges may be curved; surface and curve elements of
/// physical groups may be of either order. If `order` is 1, only the corners of elements are read, and the mid-edge
/// nodes become vertices that belong to no cell. Linear cells are read the same way for both orders; elevate() converts
/// linear cells to second order. A file with tetrahedra of both orders is rejected.
///
/// If `kind` is not tetrahedra, the cells are the file's triangles, lines or points, with or without a group. Only the
/// corners of these elements are kept, and elements of higher dimension are skipped. A file without cells of `kind` is
/// rejected; the message lists the cells that the file has.
///
/// `scale` converts the coordinates to metres. The result has passed validate_cells() or validate_lower_cells()
/// (mesh/validate.hpp). Throws InputError if the file cannot be read or is not valid; the message names the file and
/// the line. For binary files the line is that of the section's header, and the message ends with the byte offset.
MeshData read_gmsh(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                   CellKind kind = CellKind::tetrahedron);

/// Variant of `read_gmsh` for a file already in memory. `name_for_errors` is the file name in messages.
MeshData parse_gmsh(std::string_view content, const std::string& name_for_errors, double scale = 1.0,
                    bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
