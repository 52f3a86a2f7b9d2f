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

/// Reads a Wavefront OBJ, STL or PLY file. The extension of the file name selects the format. STL and PLY may be text
/// or binary.
///
/// Polygons are split into fans of triangles, and polylines into segments. Vertices keep the file's order. STL files
/// contain no list of vertices; equal positions become one vertex, and the vertices are in the order in which their
/// positions first appear. `scale` converts coordinates to metres. Throws InputError for another format, for a
/// reference to a vertex that does not exist, for a coordinate that is not finite, and for a triangle of zero area; the
/// message names the file and, for text files, the line. Serial.
PolygonFile read_polygons(const std::string& file, double scale = 1.0);

/// Returns true if read_polygons() supports the extension of the file name: .obj, .stl or .ply, in upper or lower case.
bool is_polygon_file(const std::string& file);

/// Reads the triangles of an OBJ, STL or PLY file and merges vertices at equal positions. Throws InputError if the file
/// has no triangles. Serial.
TriangleMesh read_triangles(const std::string& file, double scale = 1.0);

/// Reads the triangles, segments or points of an OBJ, STL or PLY file as a mesh that is stored completely on this rank.
/// For points, each vertex of the file is a cell.
///
/// Throws InputError if the file has no cells of `kind`; the message lists the cells that the file has. Also throws
/// InputError if validate_lower_cells() rejects the mesh. Serial.
MeshData read_polygon_mesh(const std::string& file, CellKind kind, double scale = 1.0,
                           bool allow_coincident_vertices = false);

}  // namespace diffsim
