// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diffsim/mesh/impl/element.hpp"
#include "mesh/mesh_text.hpp"
#include "mesh/raw_mesh.hpp"
#include "mesh/refuse_mesh.hpp"

namespace diffsim {
namespace {

class Assembly {
 public:
  Assembly(RawMesh&& raw, CellKind kind, const RawPlaces& places)
      : raw_(std::move(raw)), kind_(kind), places_(places) {}

  MeshData run(bool allow_coincident_vertices) {
    take_cells();
    validate(allow_coincident_vertices);
    add_regions();
    find_faces();
    sort_regions();
    return std::move(mesh_);
  }

 private:
  /// Triangle of a group: its vertices in ascending order, and its index in `raw_.group_elements`.
  struct Triangle {
    std::array<std::int64_t, 3> vertices;
    std::size_t element;
  };

  void take_cells();
  void refuse_for_want_of_cells() const;
  void validate(bool allow_coincident_vertices);
  void add_regions();
  void find_faces();
  void sort_regions();
  std::vector<Triangle> sorted_triangles() const;
  void check_middles(const RawMesh::GroupElement& triangle, const std::int64_t* cell) const;
  [[noreturn]] void fail(std::size_t offset, const std::string& what) const {
    refuse_mesh(places_.file, places_.element(offset), what);
  }

  RawMesh raw_;
  CellKind kind_;
  const RawPlaces& places_;
  MeshData mesh_;
  std::vector<std::int32_t> region_of_group_;
};

void Assembly::take_cells() {
  mesh_.num_vertices = static_cast<std::int64_t>(raw_.coordinates.size() / 3);
  const bool solid = kind_ == CellKind::tetrahedron;
  (solid ? mesh_.num_cells : mesh_.lower(kind_).num) = static_cast<std::int64_t>(raw_.cell_offsets.size());
  mesh_.order = raw_.nodes_per_cell == 10 ? 2 : 1;
  mesh_.coordinates = std::move(raw_.coordinates);
  (solid ? mesh_.cells : mesh_.lower(kind_).nodes) = std::move(raw_.cells);
}

/// Throws InputError for a file without cells of the kind `kind_`. The message lists the cells that the file has.
void Assembly::refuse_for_want_of_cells() const {
  std::string has;
  for (std::size_t d = raw_.num_elements.size(); d-- > 0;)
    if (raw_.num_elements[d] > 0)
      has +=
          (has.empty() ? "" : " and ") + std::to_string(raw_.num_elements[d]) + " " + name_of(static_cast<CellKind>(d));
  refuse_mesh(places_.file, {},
              std::string("no ") + name_of(kind_) + ", but " + (has.empty() ? "no cells at all" : has) + "; " +
                  places_.remedy(kind_));
}

void Assembly::validate(bool allow_coincident_vertices) {
  ValidateOptions options;
  options.allow_coincident_vertices = allow_coincident_vertices;
  options.cell_place = [this](std::int64_t cell) {
    return places_.element(raw_.cell_offsets[static_cast<std::size_t>(cell)]);
  };
  options.vertex_location = places_.vertex;
  const std::int64_t num_elements =
      std::accumulate(raw_.num_elements.begin(), raw_.num_elements.end(), std::int64_t{0});
  if (raw_.cell_offsets.empty() && (kind_ != CellKind::tetrahedron || num_elements > 0)) refuse_for_want_of_cells();
  mesh_.num_unused_vertices = kind_ == CellKind::tetrahedron
                                  ? validate_cells(mesh_, places_.file, options)
                                  : validate_lower_cells(mesh_, kind_, places_.file, options);
}

/// Converts the groups to regions. Adds the region entries of cells, and of vertices in groups of dimension 0 and 1.
void Assembly::add_regions() {
  std::vector<std::size_t> order(raw_.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(-raw_.groups[a].dimension, raw_.groups[a].tag) <
           std::pair(-raw_.groups[b].dimension, raw_.groups[b].tag);
  });
  region_of_group_.resize(order.size());
  for (const std::size_t group : order) {
    region_of_group_[group] = static_cast<std::int32_t>(mesh_.regions.size());
    mesh_.regions.push_back(std::move(raw_.groups[group]));
  }
  auto& cell_regions = kind_ == CellKind::tetrahedron ? mesh_.cell_regions : mesh_.lower(kind_).regions;
  for (const auto& entry : raw_.cell_groups)
    cell_regions.push_back({entry.cell, region_of_group_[static_cast<std::size_t>(entry.group)]});
  for (const auto& entry : raw_.vertex_groups)
    mesh_.vertex_regions.push_back({entry.vertex, region_of_group_[static_cast<std::size_t>(entry.region)]});
  for (const auto& element : raw_.group_elements)
    for (std::size_t i = 0; element.dimension < 2 && i < static_cast<std::size_t>(element.num_nodes); ++i)
      mesh_.vertex_regions.push_back({element.nodes[i], region_of_group_[static_cast<std::size_t>(element.group)]});
}

std::vector<Assembly::Triangle> Assembly::sorted_triangles() const {
  std::vector<Triangle> triangles;
  for (std::size_t e = 0; e < raw_.group_elements.size(); ++e) {
    if (raw_.group_elements[e].dimension != 2) continue;
    const auto& nodes = raw_.group_elements[e].nodes;
    triangles.push_back({{nodes[0], nodes[1], nodes[2]}, e});
    std::sort(triangles.back().vertices.begin(), triangles.back().vertices.end());
  }
  std::sort(triangles.begin(), triangles.end(), [](const Triangle& a, const Triangle& b) {
    return std::tie(a.vertices, a.element) < std::tie(b.vertices, b.element);
  });
  return triangles;
}

/// Checks that a second-order triangle has the same mid-edge nodes as the cell of which the triangle is a face.
void Assembly::check_middles(const RawMesh::GroupElement& triangle, const std::int64_t* cell) const {
  if (triangle.num_nodes != 6) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t a = triangle.nodes[i], b = triangle.nodes[(i + 1) % 3], middle = triangle.nodes[3 + i];
    for (int e = 0; e < 6; ++e) {
      if (std::minmax(cell[edge_corners[e][0]], cell[edge_corners[e][1]]) != std::minmax(a, b)) continue;
      if (cell[4 + e] == middle) continue;
      fail(triangle.offset, "this triangle has vertex " + std::to_string(middle) + " on the edge of vertices " +
                                std::to_string(a) + " and " + std::to_string(b) +
                                ", where its tetrahedron has vertex " + std::to_string(cell[4 + e]) +
                                "; mesh surface and volume together");
    }
  }
}

/// Finds, for each triangle of a group, the first cell of which the triangle is a face, and adds the region entry.
/// Throws InputError for a triangle that is not a face of a cell.
void Assembly::find_faces() {
  const std::vector<Triangle> triangles = sorted_triangles();
  if (triangles.empty()) return;
  std::vector<bool> on_triangle(static_cast<std::size_t>(mesh_.num_vertices), false);
  for (const Triangle& triangle : triangles)
    for (const std::int64_t vertex : triangle.vertices) on_triangle[static_cast<std::size_t>(vertex)] = true;

  std::vector<bool> found(triangles.size(), false);
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const std::int64_t* v = &mesh_.cells[static_cast<std::size_t>(mesh_.nodes_per_cell() * c)];
    const auto marked =
        std::count_if(v, v + 4, [&](std::int64_t vertex) { return on_triangle[static_cast<std::size_t>(vertex)]; });
    if (marked < 3) continue;
    for (int face = 0; face < 4; ++face) {
      std::array<std::int64_t, 3> vertices = {v[(face + 1) % 4], v[(face + 2) % 4], v[(face + 3) % 4]};
      std::sort(vertices.begin(), vertices.end());
      auto triangle = std::lower_bound(triangles.begin(), triangles.end(), vertices,
                                       [](const Triangle& a, const auto& b) { return a.vertices < b; });
      for (; triangle != triangles.end() && triangle->vertices == vertices; ++triangle) {
        const auto index = static_cast<std::size_t>(triangle - triangles.begin());
        if (found[index]) continue;
        found[index] = true;
        check_middles(raw_.group_elements[triangle->element], v);
        const std::int32_t group = raw_.group_elements[triangle->element].group;
        mesh_.face_regions.push_back({c, face, region_of_group_[static_cast<std::size_t>(group)]});
      }
    }
  }

  std::size_t first_stray = raw_.group_elements.size();
  for (std::size_t i = 0; i < triangles.size(); ++i)
    if (!found[i]) first_stray = std::min(first_stray, triangles[i].element);
  if (first_stray == raw_.group_elements.size()) return;
  const auto& stray = raw_.group_elements[first_stray];
  const auto& region = mesh_.regions[static_cast<std::size_t>(region_of_group_[static_cast<std::size_t>(stray.group)])];
  fail(stray.offset,
       "this triangle of " + places_.group + " " + in_quotes(region.name) +
           " is not a face of any tetrahedron; remove it from the group, or mesh surface and volume together");
}

/// Sorts the region entries by region, then entity, and removes duplicates.
void Assembly::sort_regions() {
  const auto sort_unique = [](auto& entries, const auto& key) {
    std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    entries.erase(
        std::unique(entries.begin(), entries.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
        entries.end());
  };
  for (auto* const cells : {&mesh_.cell_regions, &mesh_.lower_cells[0].regions, &mesh_.lower_cells[1].regions,
                            &mesh_.lower_cells[2].regions})
    sort_unique(*cells, [](const auto& entry) { return std::tie(entry.region, entry.cell); });
  sort_unique(mesh_.face_regions, [](const auto& entry) { return std::tie(entry.region, entry.cell, entry.face); });
  sort_unique(mesh_.vertex_regions, [](const auto& entry) { return std::tie(entry.region, entry.vertex); });
}

}  // namespace

MeshData assemble_mesh(RawMesh&& raw, CellKind kind, bool allow_coincident_vertices, const RawPlaces& places) {
  return Assembly(std::move(raw), kind, places).run(allow_coincident_vertices);
}

}  // namespace diffsim
