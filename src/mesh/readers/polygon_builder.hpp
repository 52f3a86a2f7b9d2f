// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "mesh/readers/polygon_reader.hpp"

namespace diffsim {

/// Collects the vertices, triangles and segments of an OBJ, STL or PLY file. Throws InputError for coordinates that are
/// not finite, references to vertices that do not exist, polygons and polylines with too few vertices, and triangles of
/// zero area. The argument `line` of the member functions is the line number for error messages, counted from 1, or 0
/// for a binary file.
class PolygonBuilder {
 public:
  PolygonBuilder(const std::string& file, double scale) : file_(file), scale_(scale) {}

  [[noreturn]] void fail(long line, const std::string& what) const;
  int num_vertices() const { return static_cast<int>(contents_.surface.vertices.size()); }
  void add_vertex(const std::array<double, 3>& x, long line);
  /// Adds a polygon of at least three corners, split into a fan of triangles about the first corner.
  void add_polygon(const std::vector<int>& corners, long line);
  /// Adds a polyline through at least two vertices, split into segments.
  void add_polyline(const std::vector<int>& vertices, long line);
  PolygonFile take() { return std::move(contents_); }

 private:
  void check(const std::vector<int>& vertices, std::size_t least, const char* what, long line) const;

  const std::string& file_;
  double scale_;
  PolygonFile contents_;
};

/// Replaces vertices at equal positions by one vertex. The merged vertices are in the order in which their positions
/// first appear in `contents`, the contents of a polygon file.
void merge_equal_places(PolygonFile& contents);

/// Parses the contents `text` of an OBJ, STL or PLY file.
PolygonFile parse_obj(const std::string& text, PolygonBuilder builder);
PolygonFile parse_stl(const std::string& text, PolygonBuilder builder);
PolygonFile parse_ply(const std::string& text, PolygonBuilder builder);

}  // namespace diffsim
