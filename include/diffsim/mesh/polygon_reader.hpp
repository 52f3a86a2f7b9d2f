// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Triangles in space, by their corners.
struct TriangleMesh {
  std::vector<std::array<double, 3>> vertices;  ///< m
  std::vector<std::array<int, 3>> triangles;
};

/// Contents of a file of polygons: triangles, lines, and the vertices of both, in the file's order.
struct PolygonFile {
  TriangleMesh surface;
  std::vector<std::array<int, 2>> segments;
};

/// Reads Wavefront OBJ, STL or PLY, each as text or binary where the format has both, by the file's ending.
///
/// Polygons are split into fans of triangles, polylines into segments. Vertices keep the file's order; STL has none, so
/// there equal places are one vertex, in the order in which they appear. `scale` multiplies coordinates, to metres.
/// Throws InputError, naming file and line, for what is none of these, vertices that are not there, numbers that are
/// not finite and a triangle without area. Serial.
PolygonFile read_polygons(const std::string& file, double scale = 1.0);

/// Whether the ending of a file's name is one that read_polygons() reads: .obj, .stl or .ply, in any case.
bool is_polygon_file(const std::string& file);

/// The triangles of such a file with equal places as one vertex; InputError where there are none. Serial.
TriangleMesh read_triangles(const std::string& file, double scale = 1.0);

/// The cells of one kind, triangles, segments or points, of such a file as a mesh that this rank has whole. A mesh of
/// points has each vertex of the file as a cell.
///
/// Throws InputError for a file without cells of that kind, naming those it has, and for what validate_lower_cells()
/// refuses. Serial.
MeshData read_polygon_mesh(const std::string& file, CellKind kind, double scale = 1.0,
                           bool allow_coincident_vertices = false);

}  // namespace diffsim
