// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/mesh/polygon_reader.hpp"

namespace diffsim {

/// Gathers the contents of a file of polygons and refuses what no mesh can have. `line`, 1-based, is for messages; 0
/// where the file has no lines.
class PolygonBuilder {
 public:
  PolygonBuilder(const std::string& file, double scale) : file_(file), scale_(scale) {}

  [[noreturn]] void fail(long line, const std::string& what) const;
  int num_vertices() const { return static_cast<int>(contents_.surface.vertices.size()); }
  void add_vertex(const std::array<double, 3>& x, long line);
  /// A polygon of at least three corners, split into a fan about the first.
  void add_polygon(const std::vector<int>& corners, long line);
  /// A line through at least two vertices.
  void add_polyline(const std::vector<int>& vertices, long line);
  PolygonFile take() { return std::move(contents_); }

 private:
  void check(const std::vector<int>& vertices, std::size_t least, const char* what, long line) const;

  const std::string& file_;
  double scale_;
  PolygonFile contents_;
};

/// Equal places become one vertex, in the order in which they first appear.
void merge_equal_places(PolygonFile& contents);

/// Reads the text of a file.
PolygonFile parse_obj(const std::string& text, PolygonBuilder builder);
PolygonFile parse_stl(const std::string& text, PolygonBuilder builder);
PolygonFile parse_ply(const std::string& text, PolygonBuilder builder);

}  // namespace diffsim
