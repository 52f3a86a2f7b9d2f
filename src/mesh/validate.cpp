// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/validate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "mesh/cell_defects.hpp"
#include "mesh/edge_nodes.hpp"
#include "mesh/refuse_mesh.hpp"

namespace diffsim {
namespace {

/// Validation of a mesh of tetrahedra. Each check throws InputError for the first error found.
class Inspection {
 public:
  Inspection(const MeshData& mesh, const std::string& name, const ValidateOptions& options)
      : mesh_(mesh), name_(name), options_(options) {}

  void check_shape() const;
  void check_coordinates() const;
  void check_vertex_numbers();
  void check_volumes() const;
  void check_curved_cells() const;
  void check_faces() const;
  void check_edges() const;
  void check_positions() const;
  void check_regions() const;
  std::int64_t count_unused() const { return std::count(used_.begin(), used_.end(), false); }

 private:
  [[noreturn]] void fail(const FilePlace& place, const std::string& what) const { refuse_mesh(name_, place, what); }
  [[noreturn]] void fail_cell(std::int64_t cell, const std::string& what) const {
    fail(options_.cell_place ? options_.cell_place(cell) : FilePlace{}, "cell " + std::to_string(cell) + what);
  }
  [[noreturn]] void fail_vertex(std::int64_t vertex, const std::string& what) const {
    fail(options_.vertex_location ? options_.vertex_location(vertex) : FilePlace{},
         "vertex " + std::to_string(vertex) + what);
  }

  const std::int64_t* cell(std::int64_t index) const {
    return &mesh_.cells[static_cast<std::size_t>(mesh_.nodes_per_cell() * index)];
  }
  const double* position(std::int64_t vertex) const { return &mesh_.coordinates[3 * static_cast<std::size_t>(vertex)]; }
  QuadraticCell positions(std::int64_t index) const;

  const MeshData& mesh_;
  const std::string& name_;
  const ValidateOptions& options_;
  std::vector<bool> used_;
};

void Inspection::check_shape() const {
  const auto vertices = static_cast<std::size_t>(mesh_.num_vertices), cells = static_cast<std::size_t>(mesh_.num_cells);
  if (mesh_.first_vertex != 0 || mesh_.first_cell != 0 || mesh_.coordinates.size() != 3 * vertices ||
      mesh_.cells.size() != static_cast<std::size_t>(mesh_.nodes_per_cell()) * cells)
    throw Error("validate_cells: the mesh must be whole on this rank");
  if (mesh_.num_cells == 0)
    fail({},
         "no tetrahedra; mesh the volume (in Gmsh: `gmsh -3`), and if there are physical groups, put the volume "
         "into one too (Gmsh saves only what is in a group)");
}

void Inspection::check_coordinates() const {
  const auto bad = std::find_if(mesh_.coordinates.begin(), mesh_.coordinates.end(),
                                [](double value) { return !std::isfinite(value); });
  if (bad != mesh_.coordinates.end()) fail_vertex((bad - mesh_.coordinates.begin()) / 3, coordinate_error(*bad));
}

/// Checks the vertex numbers of the cells, and marks the vertices that belong to a cell in `used_`.
void Inspection::check_vertex_numbers() {
  used_.assign(static_cast<std::size_t>(mesh_.num_vertices), false);
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const std::int64_t* v = cell(c);
    if (const std::string what = vertex_number_error(v, mesh_.nodes_per_cell(), mesh_.num_vertices); !what.empty())
      fail_cell(c, what);
    for (int i = 0; i < mesh_.nodes_per_cell(); ++i) used_[static_cast<std::size_t>(v[i])] = true;
  }
}

QuadraticCell Inspection::positions(std::int64_t index) const {
  QuadraticCell x{};
  for (int i = 0; i < mesh_.nodes_per_cell(); ++i)
    std::copy_n(position(cell(index)[i]), 3, x[static_cast<std::size_t>(i)].begin());
  return x;
}

void Inspection::check_volumes() const {
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const CellSize size = cell_size(positions(c));
    if (size.is_good()) continue;
    std::int64_t inverted = 0;
    for (std::int64_t other = 0; other < mesh_.num_cells; ++other)
      inverted += cell_size(positions(other)).is_inverted();
    fail_cell(c, size_error(size, inverted, mesh_.num_cells));
  }
}

void Inspection::check_curved_cells() const {
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c)
    if (!(least_relative_jacobian(positions(c)) > min_relative_volume)) fail_cell(c, folded_cell);
}

/// Checks the mid-edge nodes of second-order cells: all cells with a common edge must have the same node on the edge,
/// and no node may be on two edges.
void Inspection::check_edges() const {
  std::vector<EdgeNode> nodes = edge_nodes(mesh_);
  for (auto* const find : {edge_with_two_nodes, node_on_two_edges})
    if (const std::optional<MeshDefect> defect = find(nodes)) fail_cell(defect->index, defect->what);
}

/// Checks for faces of more than two cells and for repeated cells. Compares all faces with the same lowest vertex with
/// each other to find every pair of faces with the same vertices.
void Inspection::check_faces() const {
  const auto lowest_vertex = [](const std::int64_t* v, int face) {
    return std::min({v[(face + 1) % 4], v[(face + 2) % 4], v[(face + 3) % 4]});
  };

  // faces[first[v]] … faces[first[v + 1] - 1]: the faces whose lowest vertex is v, each stored as 4 · cell + face
  std::vector<std::int64_t> first(static_cast<std::size_t>(mesh_.num_vertices) + 2, 0);
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c)
    for (int face = 0; face < 4; ++face) ++first[static_cast<std::size_t>(lowest_vertex(cell(c), face)) + 2];
  for (std::size_t v = 2; v < first.size(); ++v) first[v] += first[v - 1];
  std::vector<std::int64_t> faces(4 * static_cast<std::size_t>(mesh_.num_cells));
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c)
    for (int face = 0; face < 4; ++face)
      faces[static_cast<std::size_t>(first[static_cast<std::size_t>(lowest_vertex(cell(c), face)) + 1]++)] =
          4 * c + face;

  std::vector<CellFace> meeting;
  for (std::int64_t lowest = 0; lowest < mesh_.num_vertices; ++lowest) {
    meeting.clear();
    const std::int64_t last = first[static_cast<std::size_t>(lowest) + 1];
    for (std::int64_t i = first[static_cast<std::size_t>(lowest)]; i < last; ++i) {
      const std::int64_t reference = faces[static_cast<std::size_t>(i)];
      meeting.push_back(face_of(cell(reference / 4), static_cast<int>(reference % 4), reference / 4));
    }
    if (const std::optional<MeshDefect> defect = face_defect(meeting)) fail_cell(defect->index, defect->what);
  }
}

void Inspection::check_positions() const {
  std::vector<PlacedVertex> vertices;
  for (std::int64_t v = 0; v < mesh_.num_vertices; ++v)
    if (used_[static_cast<std::size_t>(v)]) vertices.push_back({{position(v)[0], position(v)[1], position(v)[2]}, v});
  if (const std::optional<MeshDefect> defect = coincident_vertices(vertices)) fail_vertex(defect->index, defect->what);
}

void Inspection::check_regions() const {
  const auto within = [](std::int64_t value, std::int64_t end) { return value >= 0 && value < end; };
  const auto regions = static_cast<std::int64_t>(mesh_.regions.size());
  for (const auto& entry : mesh_.cell_regions)
    if (!within(entry.cell, mesh_.num_cells) || !within(entry.region, regions))
      fail({}, "cell " + std::to_string(entry.cell) + " of a region does not exist; correct the region");
  for (const auto& entry : mesh_.face_regions)
    if (!within(entry.cell, mesh_.num_cells) || !within(entry.face, 4) || !within(entry.region, regions))
      fail({}, "a face of cell " + std::to_string(entry.cell) + " in a region does not exist; correct the region");
  for (const auto& entry : mesh_.vertex_regions)
    if (!within(entry.vertex, mesh_.num_vertices) || !within(entry.region, regions))
      fail({}, "vertex " + std::to_string(entry.vertex) + " of a region does not exist; correct the region");
}

}  // namespace

std::int64_t validate_cells(const MeshData& mesh, const std::string& name, const ValidateOptions& options) {
  Inspection inspection(mesh, name, options);
  inspection.check_shape();
  inspection.check_coordinates();
  inspection.check_vertex_numbers();
  inspection.check_volumes();
  if (mesh.order == 2) inspection.check_curved_cells();
  inspection.check_faces();
  if (mesh.order == 2) inspection.check_edges();
  if (!options.allow_coincident_vertices) inspection.check_positions();
  inspection.check_regions();
  return inspection.count_unused();
}

}  // namespace diffsim
