// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Reads a Gmsh mesh (2.2 or 4.1, ASCII or binary of either byte order) whole and checks it; serial.
///
/// Vertices and cells keep the order of the file's nodes and of its elements of `kind`. Physical groups become regions,
/// sorted by dimension (3 first) and tag; a group that has a name but no elements is an empty region. Region entries
/// are sorted by region and entity, each once. A face inside the body belongs to its lower-numbered cell. Triangles,
/// lines and points without a group, and sections that hold no mesh, are skipped.
///
/// Second-order cells (ten nodes) keep their nodes if `order` is 2, curved edges included; the surface and curves of
/// physical groups may be of either order. If `order` is 1, elements are read by their corners, and the nodes on edges
/// are vertices that no cell has. Linear cells are read alike in both cases: see elevate.hpp. A file with cells of both
/// orders is refused.
///
/// With a `kind` below tetrahedra the cells are the file's triangles, lines or points, by their corners, in groups or
/// not; elements of a higher dimension are skipped. A file without cells of that kind is refused with those it has.
///
/// `scale` multiplies the coordinates (to metres). The result has passed validate_cells, or validate_lower_cells
/// (diffsim/mesh/validate.hpp).
/// Throws InputError with file and line; in a binary file that is the line of the section's header, and the message
/// ends with the byte's offset.
MeshData read_gmsh(const std::string& path, double scale = 1.0, bool allow_coincident_vertices = false, int order = 1,
                   CellKind kind = CellKind::tetrahedron);

/// The same for a file already in memory.
MeshData parse_gmsh(std::string_view content, const std::string& name_for_errors, double scale = 1.0,
                    bool allow_coincident_vertices = false, int order = 1, CellKind kind = CellKind::tetrahedron);

}  // namespace diffsim
