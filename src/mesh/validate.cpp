// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/validate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "mesh/edge_nodes.hpp"
#include "mesh/refuse_mesh.hpp"

namespace diffsim {
namespace {

std::string number(double value, int digits = 17) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string number(std::int64_t value) { return std::to_string(value); }

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
    fail(options_.cell_place ? options_.cell_place(cell) : FilePlace{}, "cell " + number(cell) + what);
  }
  [[noreturn]] void fail_vertex(std::int64_t vertex, const std::string& what) const {
    fail(options_.vertex_location ? options_.vertex_location(vertex) : FilePlace{}, "vertex " + number(vertex) + what);
  }

  const std::int64_t* cell(std::int64_t index) const {
    return &mesh_.cells[static_cast<std::size_t>(mesh_.nodes_per_cell() * index)];
  }
  const double* position(std::int64_t vertex) const { return &mesh_.coordinates[3 * static_cast<std::size_t>(vertex)]; }
  std::pair<double, double> determinant(std::int64_t index) const;

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
  if (bad != mesh_.coordinates.end())
    fail_vertex((bad - mesh_.coordinates.begin()) / 3,
                " has the coordinate " + number(*bad) + "; coordinates must be finite");
}

/// Checks the vertex numbers of the cells, and marks the vertices that cells use.
void Inspection::check_vertex_numbers() {
  used_.assign(static_cast<std::size_t>(mesh_.num_vertices), false);
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const std::int64_t* v = cell(c);
    for (int i = 0; i < mesh_.nodes_per_cell(); ++i) {
      if (v[i] < 0 || v[i] >= mesh_.num_vertices)
        fail_cell(c, " has vertex " + number(v[i]) + ", but vertices are numbered 0 to " +
                         number(mesh_.num_vertices - 1) + "; correct the number or add the vertex");
      for (int j = 0; j < i; ++j)
        if (v[i] == v[j])
          fail_cell(c, " has vertex " + number(v[i]) + " twice; remove the cell or give it " +
                           (mesh_.order == 2 ? "ten" : "four") + " different vertices");
      used_[static_cast<std::size_t>(v[i])] = true;
    }
  }
}

/// Returns det[x1-x0, x2-x0, x3-x0] / L³, and the longest edge L of the cell. The first value is 0 if L is zero or not
/// finite.
std::pair<double, double> Inspection::determinant(std::int64_t index) const {
  const std::int64_t* v = cell(index);
  const double *x0 = position(v[0]), *x1 = position(v[1]), *x2 = position(v[2]), *x3 = position(v[3]);
  double a[3], b[3], c[3], longest = 0;
  for (int i = 0; i < 3; ++i) {
    a[i] = x1[i] - x0[i];
    b[i] = x2[i] - x0[i];
    c[i] = x3[i] - x0[i];
    longest = std::max({longest, std::abs(a[i]), std::abs(b[i]), std::abs(c[i]), std::abs(a[i] - b[i]),
                        std::abs(b[i] - c[i]), std::abs(c[i] - a[i])});
  }
  if (longest == 0 || !std::isfinite(longest)) return {0.0, longest};
  // Scale by the largest edge component before the products, to avoid overflow and underflow.
  for (int i = 0; i < 3; ++i) {
    a[i] /= longest;
    b[i] /= longest;
    c[i] /= longest;
  }
  const auto length2 = [](double x, double y, double z) { return x * x + y * y + z * z; };
  const double edge2 =
      std::max({length2(a[0], a[1], a[2]), length2(b[0], b[1], b[2]), length2(c[0], c[1], c[2]),
                length2(a[0] - b[0], a[1] - b[1], a[2] - b[2]), length2(b[0] - c[0], b[1] - c[1], b[2] - c[2]),
                length2(c[0] - a[0], c[1] - a[1], c[2] - a[2])});
  const double det =
      a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  const double edge = std::sqrt(edge2);
  return {det / (edge2 * edge), edge * longest};
}

void Inspection::check_volumes() const {
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const auto [relative, longest] = determinant(c);
    if (relative > min_relative_volume) continue;
    if (!std::isfinite(longest)) fail_cell(c, " has an edge too long for double precision; check the coordinates");
    if (relative >= -min_relative_volume)
      fail_cell(c, " has zero volume (its longest edge is " + number(longest, 4) +
                       " m); remove it, move its vertices apart, or mesh that region again");
    std::int64_t inverted = 0;
    for (std::int64_t other = 0; other < mesh_.num_cells; ++other)
      if (determinant(other).first < -min_relative_volume) ++inverted;
    const std::string volume = number(relative * longest * longest * longest / 6, 4);
    if (inverted == mesh_.num_cells && inverted > 1)
      fail_cell(c, " and all others are inverted (volume " + volume +
                       " m^3); swap two vertices in every cell, or undo the mirroring");
    fail_cell(c, " is inverted (volume " + volume + " m^3; " + number(inverted) + " of " + number(mesh_.num_cells) +
                     " cells are); swap two of its vertices, or mesh that region again");
  }
}

void Inspection::check_curved_cells() const {
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c) {
    const std::int64_t* v = cell(c);
    QuadraticCell x;
    for (std::size_t i = 0; i < 10; ++i) std::copy_n(position(v[i]), 3, x[i].begin());
    if (!(least_relative_jacobian(x) > min_relative_volume)) fail_cell(c, folded_cell);
  }
}

/// Checks the mid-edge nodes of second-order cells: all cells with a common edge must have the same node on the edge,
/// and no node may be on two edges.
void Inspection::check_edges() const {
  std::vector<EdgeNode> nodes = edge_nodes(mesh_);
  for (auto* const find : {edge_with_two_nodes, node_on_two_edges})
    if (const std::optional<EdgeFault> fault = find(nodes)) fail_cell(fault->cell, fault->what);
}

/// Checks for faces of more than two cells and for repeated cells. Compares all faces with the same lowest vertex with
/// each other to find every pair of faces with the same vertices.
void Inspection::check_faces() const {
  struct Face {
    std::int64_t middle, highest, opposite, cell;
    bool operator<(const Face& other) const {
      return std::tie(middle, highest, opposite, cell) <
             std::tie(other.middle, other.highest, other.opposite, other.cell);
    }
  };
  const auto lowest_vertex = [](const std::int64_t* v, int face) {
    return std::min({v[(face + 1) % 4], v[(face + 2) % 4], v[(face + 3) % 4]});
  };

  // faces[first[v]] … faces[first[v + 1] - 1]: the faces whose lowest vertex is v, each stored as 4 cell + face
  std::vector<std::int64_t> first(static_cast<std::size_t>(mesh_.num_vertices) + 2, 0);
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c)
    for (int face = 0; face < 4; ++face) ++first[static_cast<std::size_t>(lowest_vertex(cell(c), face)) + 2];
  for (std::size_t v = 2; v < first.size(); ++v) first[v] += first[v - 1];
  std::vector<std::int64_t> faces(4 * static_cast<std::size_t>(mesh_.num_cells));
  for (std::int64_t c = 0; c < mesh_.num_cells; ++c)
    for (int face = 0; face < 4; ++face)
      faces[static_cast<std::size_t>(first[static_cast<std::size_t>(lowest_vertex(cell(c), face)) + 1]++)] =
          4 * c + face;

  std::vector<Face> meeting;
  for (std::int64_t lowest = 0; lowest < mesh_.num_vertices; ++lowest) {
    meeting.clear();
    const std::int64_t last = first[static_cast<std::size_t>(lowest) + 1];
    for (std::int64_t i = first[static_cast<std::size_t>(lowest)]; i < last; ++i) {
      const std::int64_t reference = faces[static_cast<std::size_t>(i)];
      const std::int64_t* v = cell(reference / 4);
      const int opposite = static_cast<int>(reference % 4);
      Face face{-1, -1, v[opposite], reference / 4};
      for (int k = 1; k < 4; ++k) {
        const std::int64_t vertex = v[(opposite + k) % 4];
        if (vertex == lowest) continue;
        (face.middle < 0 ? face.middle : face.highest) = vertex;
      }
      if (face.middle > face.highest) std::swap(face.middle, face.highest);
      meeting.push_back(face);
    }
    std::sort(meeting.begin(), meeting.end());
    for (std::size_t i = 1; i < meeting.size(); ++i) {
      const Face &before = meeting[i - 1], &face = meeting[i];
      if (std::tie(before.middle, before.highest) != std::tie(face.middle, face.highest)) continue;
      if (before.opposite == face.opposite)
        fail_cell(face.cell, " has the same vertices as cell " + number(before.cell) + "; remove one of the two");
      if (i < 2 || std::tie(meeting[i - 2].middle, meeting[i - 2].highest) != std::tie(face.middle, face.highest))
        continue;
      const std::int64_t latest = std::max({face.cell, before.cell, meeting[i - 2].cell});
      fail_cell(latest, " has the face of vertices " + number(lowest) + ", " + number(face.middle) + ", " +
                            number(face.highest) +
                            ", which more than two cells have; remove the cells that overlap there");
    }
  }
}

void Inspection::check_positions() const {
  struct Point {
    std::array<double, 3> x;
    std::int64_t vertex;
  };
  std::vector<Point> points;
  for (std::int64_t v = 0; v < mesh_.num_vertices; ++v)
    if (used_[static_cast<std::size_t>(v)]) points.push_back({{position(v)[0], position(v)[1], position(v)[2]}, v});
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return std::tie(a.x, a.vertex) < std::tie(b.x, b.vertex); });
  const auto same =
      std::adjacent_find(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x == b.x; });
  if (same == points.end()) return;
  fail_vertex(same[1].vertex, " is at the same position as vertex " + number(same[0].vertex) + " (" +
                                  number(same->x[0]) + ", " + number(same->x[1]) + ", " + number(same->x[2]) +
                                  "); merge the two (in Gmsh: `Coherence Mesh`)");
}

void Inspection::check_regions() const {
  const auto within = [](std::int64_t value, std::int64_t end) { return value >= 0 && value < end; };
  const auto regions = static_cast<std::int64_t>(mesh_.regions.size());
  for (const auto& entry : mesh_.cell_regions)
    if (!within(entry.cell, mesh_.num_cells) || !within(entry.region, regions))
      fail({}, "cell " + number(entry.cell) + " of a region does not exist; correct the region");
  for (const auto& entry : mesh_.face_regions)
    if (!within(entry.cell, mesh_.num_cells) || !within(entry.face, 4) || !within(entry.region, regions))
      fail({}, "a face of cell " + number(entry.cell) + " in a region does not exist; correct the region");
  for (const auto& entry : mesh_.vertex_regions)
    if (!within(entry.vertex, mesh_.num_vertices) || !within(entry.region, regions))
      fail({}, "vertex " + number(entry.vertex) + " of a region does not exist; correct the region");
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
