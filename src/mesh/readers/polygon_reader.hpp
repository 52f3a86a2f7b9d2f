// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Contents of a polygon file: triangles and segments, with one common list of vertices (`surface.vertices`), in file
/// order.
struct PolygonFile {
  TriangleMesh surface;
  std::vector<std::array<int, 2>> segments;
};

/// Reads a Wavefront OBJ, STL or PLY file. The extension of the file name selects the file format. STL and PLY files
/// may be text or binary.
///
/// Polygons are split into fans of triangles, and polylines into segments. The vertices of OBJ and PLY files keep the
/// file's order. STL files contain no list of vertices: corners of triangles at equal positions become one vertex, and
/// the vertices are in the order in which their positions first appear. The coordinates in the file, multiplied by
/// `scale`, are in metres. Throws InputError for an unsupported file format, for a reference to a vertex that does not
/// exist, for a coordinate that is not finite, and for a triangle of zero area; the message names the file and, for
/// text files, the line. Serial.
PolygonFile read_polygons(const std::string& file, double scale = 1.0);

/// Returns true if read_polygons() supports the extension of the file name: .obj, .stl or .ply, in upper or lower case.
bool is_polygon_file(const std::string& file);

/// Reads the triangles of an OBJ, STL or PLY file and merges vertices at equal positions. Throws InputError if the file
/// has no triangles. Serial.
TriangleMesh read_triangles(const std::string& file, double scale = 1.0);

/// Reads the triangles, segments or points of an OBJ, STL or PLY file as a mesh that is stored completely on this rank.
/// If `kind` is points, each vertex of the file becomes a cell.
///
/// Throws InputError if the file has no cells of kind `kind` (the error message lists the kinds of cells that the file
/// has), or if validate_lower_cells() rejects the mesh. Serial.
MeshData read_polygon_mesh(const std::string& file, CellKind kind, double scale = 1.0,
                           bool allow_coincident_vertices = false);

}  // namespace diffsim
