// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Validation of triangles, segments and points that form separate bodies.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "mesh/cell_defects.hpp"
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
  std::string singular() const {
    constexpr const char* names[] = {"point", "segment", "triangle"};
    return names[index_of(kind_)];
  }
  [[noreturn]] void fail_cell(std::int64_t cell, const std::string& what) const {
    fail(options_.cell_place ? options_.cell_place(cell) : FilePlace{}, singular() + " " + std::to_string(cell) + what);
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
    return {x[0], x[1], x[2]};
  }
  Position side(std::int64_t from, std::int64_t to) const {
    const Position a = position(from), b = position(to);
    return {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  }

  void check_vertices() {
    used_.assign(static_cast<std::size_t>(mesh_.num_vertices), 0);
    for (std::size_t i = 0; i < mesh_.coordinates.size(); ++i)
      if (!std::isfinite(mesh_.coordinates[i]))
        fail_vertex(static_cast<std::int64_t>(i / 3), coordinate_error(mesh_.coordinates[i]));
    for (std::int64_t c = 0; c < cells_.num; ++c) {
      const std::string what = vertex_number_error(cell(c).data(), corners_of(kind_), mesh_.num_vertices);
      if (!what.empty()) fail_cell(c, what);
      for (const std::int64_t v : cell(c)) used_[static_cast<std::size_t>(v)] = 1;
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
    std::vector<CellFace> cells;
    for (std::int64_t c = 0; c < cells_.num; ++c) cells.push_back(lower_cell(cell(c).data(), corners_of(kind_), c));
    if (const std::optional<MeshDefect> defect = face_defect(cells, singular())) fail_cell(defect->index, defect->what);
  }

  void check_positions() const {
    std::vector<PlacedVertex> vertices;
    for (std::int64_t v = 0; v < mesh_.num_vertices; ++v)
      if (used_[static_cast<std::size_t>(v)] != 0) vertices.push_back({position(v), v});
    if (const std::optional<MeshDefect> defect = coincident_vertices(vertices))
      fail_vertex(defect->index, defect->what);
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
