// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Validation of triangles, segments and points that form separate bodies.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "diffsim/core/error.hpp"
#include "mesh/refuse_mesh.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

using Position = std::array<double, 3>;

class LowerInspection {
 public:
  LowerInspection(const MeshData& mesh, CellKind kind, const std::string& name, const ValidateOptions& options)
      : mesh_(mesh),
        cells_(mesh.lower(kind)),
        corners_(static_cast<std::size_t>(corners_of(kind))),
        kind_(kind),
        name_(name),
        options_(options) {}

  std::int64_t run() {
    if (cells_.first != 0 || cells_.num != mesh_.block_of(kind_) ||
        mesh_.coordinates.size() != 3 * static_cast<std::size_t>(mesh_.num_vertices))
      throw Error("validate_lower_cells: the mesh must be whole on this rank");
    check_vertices();
    for (std::int64_t c = 0; c < cells_.num; ++c) check_size(c);
    check_twice();
    if (!options_.allow_coincident_vertices) check_positions();
    return std::count(used_.begin(), used_.end(), 0);
  }

 private:
  [[noreturn]] void fail(const FilePlace& place, const std::string& what) const { refuse_mesh(name_, place, what); }
  [[noreturn]] void fail_cell(std::int64_t cell, const std::string& what) const {
    constexpr const char* singular[] = {"point ", "segment ", "triangle "};
    fail(options_.cell_place ? options_.cell_place(cell) : FilePlace{},
         singular[index_of(kind_)] + std::to_string(cell) + what);
  }
  [[noreturn]] void fail_vertex(std::int64_t vertex, const std::string& what) const {
    fail(options_.vertex_location ? options_.vertex_location(vertex) : FilePlace{},
         "vertex " + std::to_string(vertex) + what);
  }
  std::span<const std::int64_t> cell(std::int64_t c) const {
    return std::span(cells_.nodes).subspan(corners_ * static_cast<std::size_t>(c), corners_);
  }
  Position position(std::int64_t vertex) const {
    const double* const x = &mesh_.coordinates[3 * static_cast<std::size_t>(vertex)];
    return {x[0] + 0.0, x[1] + 0.0, x[2] + 0.0};  // -0 becomes 0
  }
  Position side(std::int64_t from, std::int64_t to) const {
    const Position a = position(from), b = position(to);
    return {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  }

  void check_vertices() {
    used_.assign(static_cast<std::size_t>(mesh_.num_vertices), 0);
    for (std::size_t i = 0; i < mesh_.coordinates.size(); ++i)
      if (!std::isfinite(mesh_.coordinates[i]))
        fail_vertex(static_cast<std::int64_t>(i / 3), " has a coordinate that is not finite; give numbers");
    for (std::size_t i = 0; i < cells_.nodes.size(); ++i) {
      const auto c = static_cast<std::int64_t>(i / corners_);
      const std::int64_t v = cells_.nodes[i];
      if (v < 0 || v >= mesh_.num_vertices)
        fail_cell(c, " has vertex " + std::to_string(v) + ", but vertices are numbered 0 to " +
                         std::to_string(mesh_.num_vertices - 1) + "; correct the number or add the vertex");
      for (std::size_t j = i / corners_ * corners_; j < i; ++j)
        if (cells_.nodes[j] == v) fail_cell(c, " has vertex " + std::to_string(v) + " twice; remove it");
      used_[static_cast<std::size_t>(v)] = 1;
    }
  }

  /// Throws InputError for a segment of zero length, and for a triangle with |a × b| <= min_relative_volume L², where a
  /// and b are two sides and L is the longest side.
  void check_size(std::int64_t c) const {
    const auto v = cell(c);
    if (corners_ < 2) return;
    const Position a = side(v[0], v[1]);
    const double length = std::hypot(a[0], a[1], a[2]);
    if (!(length > 0.0)) fail_cell(c, " has no length; remove it, or move its vertices apart");
    if (corners_ < 3) return;
    const Position b = side(v[0], v[2]), d = side(v[1], v[2]);
    const double longest = std::max({length, std::hypot(b[0], b[1], b[2]), std::hypot(d[0], d[1], d[2])});
    const double area = std::hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
    if (!(area > min_relative_volume * longest * longest))
      fail_cell(c, " has no area; remove it, or move its vertices apart");
  }

  void check_twice() const {
    std::vector<std::pair<std::array<std::int64_t, 3>, std::int64_t>> sorted;
    for (std::int64_t c = 0; c < cells_.num; ++c) {
      std::array<std::int64_t, 3> vertices{-1, -1, -1};
      std::copy(cell(c).begin(), cell(c).end(), vertices.begin());
      std::sort(vertices.begin(), vertices.end());
      sorted.push_back({vertices, c});
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].first == sorted[i - 1].first)
        fail_cell(sorted[i].second, " has the same vertices as number " + std::to_string(sorted[i - 1].second) +
                                        "; remove one of the two");
  }

  void check_positions() const {
    std::vector<std::pair<Position, std::int64_t>> points;
    for (std::int64_t v = 0; v < mesh_.num_vertices; ++v)
      if (used_[static_cast<std::size_t>(v)] != 0) points.push_back({position(v), v});
    std::sort(points.begin(), points.end());
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i].first == points[i - 1].first)
        fail_vertex(points[i].second,
                    " is at the same position as vertex " + std::to_string(points[i - 1].second) + "; merge the two");
  }

  const MeshData& mesh_;
  const MeshData::LowerCells& cells_;
  std::size_t corners_;
  CellKind kind_;
  const std::string& name_;
  const ValidateOptions& options_;
  std::vector<char> used_;
};

}  // namespace

std::int64_t validate_lower_cells(const MeshData& mesh, CellKind kind, const std::string& name,
                                  const ValidateOptions& options) {
  return LowerInspection(mesh, kind, name, options).run();
}

}  // namespace diffsim
