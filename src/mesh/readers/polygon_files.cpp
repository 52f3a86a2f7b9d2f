// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "diffsim/core/error.hpp"
#include "mesh/readers/polygon_builder.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

using Position = std::array<double, 3>;

std::string ending_of(const std::string& file) {
  std::string ending = file.substr(std::min(file.find_last_of('.'), file.size()));
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

/// Returns, for each vertex, the first vertex at the same position.
std::vector<int> first_at_place(const std::vector<Position>& vertices) {
  std::map<Position, int> places;
  std::vector<int> first;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    first.push_back(places.try_emplace(vertices[v], static_cast<int>(v)).first->second);
  return first;
}

/// Summary of the contents for messages: "12 triangles and 3 segments", or "8 vertices only".
std::string text_of(const PolygonFile& contents) {
  const auto count = [](std::size_t n, const char* what) { return std::to_string(n) + " " + what; };
  const std::size_t triangles = contents.surface.triangles.size(), segments = contents.segments.size();
  if (triangles == 0 && segments == 0) return count(contents.surface.vertices.size(), "vertices only");
  if (triangles == 0) return count(segments, "segments");
  if (segments == 0) return count(triangles, "triangles");
  return count(triangles, "triangles") + " and " + count(segments, "segments");
}

}  // namespace

void PolygonBuilder::fail(long line, const std::string& what) const { throw InputError(file_, line, "", what); }

void PolygonBuilder::add_vertex(const std::array<double, 3>& x, long line) {
  Position scaled;
  for (std::size_t c = 0; c < 3; ++c) {
    scaled[c] = scale_ * x[c] + 0.0;  // -0 becomes 0
    if (!std::isfinite(scaled[c])) fail(line, "a coordinate is not finite; give numbers");
  }
  contents_.surface.vertices.push_back(scaled);
}

void PolygonBuilder::check(const std::vector<int>& vertices, std::size_t least, const char* what, long line) const {
  if (vertices.size() < least)
    fail(line, std::string(what) + " needs at least " + std::to_string(least) + " vertices, and has " +
                   std::to_string(vertices.size()));
  for (const int v : vertices)
    if (v < 0 || v >= num_vertices())
      fail(line, std::string(what) + " has vertex " + std::to_string(v) + " (0-based), and there are " +
                     std::to_string(num_vertices()));
}

void PolygonBuilder::add_polygon(const std::vector<int>& corners, long line) {
  check(corners, 3, "a face", line);
  auto& triangles = contents_.surface.triangles;
  const auto at = [&](std::size_t i) { return contents_.surface.vertices[static_cast<std::size_t>(corners[i])]; };
  for (std::size_t k = 2; k < corners.size(); ++k) {
    const Position x = at(0), y = at(k - 1), z = at(k);
    Position n;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, l = (i + 2) % 3;
      n[i] = (y[j] - x[j]) * (z[l] - x[l]) - (y[l] - x[l]) * (z[j] - x[j]);
    }
    if (!(std::hypot(n[0], n[1], n[2]) > 0.0))
      fail(line, "triangle " + std::to_string(triangles.size()) + " (0-based) has no area; remove it");
    triangles.push_back({corners[0], corners[k - 1], corners[k]});
  }
}

void PolygonBuilder::add_polyline(const std::vector<int>& vertices, long line) {
  check(vertices, 2, "a line", line);
  for (std::size_t k = 1; k < vertices.size(); ++k) contents_.segments.push_back({vertices[k - 1], vertices[k]});
}

void merge_equal_places(PolygonFile& contents) {
  const std::vector<int> first = first_at_place(contents.surface.vertices);
  std::vector<int> number(first.size());
  std::vector<Position> kept;
  for (std::size_t v = 0; v < first.size(); ++v) {
    if (first[v] == static_cast<int>(v)) kept.push_back(contents.surface.vertices[v]);
    number[v] = first[v] == static_cast<int>(v) ? static_cast<int>(kept.size()) - 1
                                                : number[static_cast<std::size_t>(first[v])];
  }
  contents.surface.vertices = std::move(kept);
  for (auto& triangle : contents.surface.triangles)
    for (int& v : triangle) v = number[static_cast<std::size_t>(v)];
  for (auto& segment : contents.segments)
    for (int& v : segment) v = number[static_cast<std::size_t>(v)];
}

bool is_polygon_file(const std::string& file) {
  const std::string ending = ending_of(file);
  return ending == ".obj" || ending == ".stl" || ending == ".ply";
}

PolygonFile read_polygons(const std::string& file, double scale) {
  const std::string ending = ending_of(file);
  if (!is_polygon_file(file))
    throw InputError(file, 0, "", "is neither .stl, .obj nor .ply; convert it to one of them");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream buffer;
  buffer << stream.rdbuf();
  if (!stream) throw InputError(file, 0, "", "cannot be read; check path and permissions");
  const PolygonBuilder builder(file, scale);
  if (ending == ".obj") return parse_obj(buffer.str(), builder);
  return ending == ".stl" ? parse_stl(buffer.str(), builder) : parse_ply(buffer.str(), builder);
}

TriangleMesh read_triangles(const std::string& file, double scale) {
  PolygonFile contents = read_polygons(file, scale);
  if (contents.surface.triangles.empty())
    throw InputError(file, 0, "", "has no triangles, but " + text_of(contents) + "; give a surface");
  merge_equal_places(contents);
  return std::move(contents.surface);
}

MeshData read_polygon_mesh(const std::string& file, CellKind kind, double scale, bool allow_coincident_vertices) {
  const PolygonFile contents = read_polygons(file, scale);
  const std::vector<Position>& vertices = contents.surface.vertices;
  MeshData mesh;
  mesh.num_vertices = static_cast<std::int64_t>(vertices.size());
  for (const Position& x : vertices) mesh.coordinates.insert(mesh.coordinates.end(), x.begin(), x.end());
  if (kind == CellKind::tetrahedron) throw InputError(file, 0, "", "has no tetrahedra, but " + text_of(contents));
  std::vector<std::int64_t>& nodes = mesh.lower(kind).nodes;
  if (kind == CellKind::triangle)
    for (const auto& triangle : contents.surface.triangles) nodes.insert(nodes.end(), triangle.begin(), triangle.end());
  if (kind == CellKind::segment)
    for (const auto& segment : contents.segments) nodes.insert(nodes.end(), segment.begin(), segment.end());
  for (std::int64_t v = 0; kind == CellKind::point && v < mesh.num_vertices; ++v) nodes.push_back(v);
  mesh.lower(kind).num = mesh.block_of(kind);
  if (nodes.empty())
    throw InputError(file, 0, "", std::string("has no ") + name_of(kind) + ", but " + text_of(contents));

  ValidateOptions options;
  options.allow_coincident_vertices = allow_coincident_vertices;
  mesh.num_unused_vertices = validate_lower_cells(mesh, kind, file, options);
  return mesh;
}

}  // namespace diffsim
