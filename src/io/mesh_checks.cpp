// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/mesh_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "core/file_order.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "io/checksum.hpp"
#include "mesh/edge_nodes.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

using Point = std::array<double, 3>;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}
std::string number(std::int64_t value) { return std::to_string(value); }

/// det[x1-x0, x2-x0, x3-x0] / L³ of a cell's corners, where L is the longest edge; NaN if an edge is too long for
/// double precision.
double relative_determinant(const QuadraticCell& x) {
  double largest = 0.0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (std::size_t i = 0; i < 3; ++i) largest = std::max(largest, std::abs(x[a][i] - x[b][i]));
  if (largest == 0.0) return 0.0;
  if (!std::isfinite(largest)) return std::numeric_limits<double>::quiet_NaN();
  double longest2 = 0.0;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      double length2 = 0.0;
      for (std::size_t i = 0; i < 3; ++i) length2 += std::pow((x[a][i] - x[b][i]) / largest, 2);
      longest2 = std::max(longest2, length2);
    }
  double e[3][3];
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < 3; ++i) e[k][i] = (x[k + 1][i] - x[0][i]) / largest;
  const double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                     e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                     e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  return det / (longest2 * std::sqrt(longest2));
}

class Checks {
 public:
  Checks(MPI_Comm comm, MeshData& mesh, const std::string& path) : comm_(comm), mesh_(mesh), path_(path) {
    ranks_ = num_ranks(comm_);
  }

  void coordinates() const;
  void vertex_numbers() const;
  void volumes();
  void faces() const;
  void edges() const;
  void positions() const;

 private:
  [[noreturn]] void fail_cell(std::int64_t cell, const std::string& what) const {
    throw InputError(path_, 0, "/cells", "cell " + number(cell) + what);
  }
  [[noreturn]] void fail_vertex(std::int64_t vertex, const std::string& what) const {
    throw InputError(path_, 0, "/vertices", "vertex " + number(vertex) + what);
  }
  int rank_of(std::uint64_t hash) const { return static_cast<int>(hash % static_cast<std::uint64_t>(ranks_)); }

  std::size_t width() const { return static_cast<std::size_t>(mesh_.nodes_per_cell()); }
  const std::int64_t* cell(std::size_t index) const { return &mesh_.cells[width() * index]; }
  std::size_t num_cells() const { return mesh_.cells.size() / width(); }

  MPI_Comm comm_;
  MeshData& mesh_;
  const std::string& path_;
  int ranks_ = 1;
  std::vector<double> used_;  // 1 for the vertices of this rank's block that belong to a cell
};

void Checks::coordinates() const {
  collectively(comm_, [&] {
    for (std::size_t i = 0; i < mesh_.coordinates.size(); ++i)
      if (!std::isfinite(mesh_.coordinates[i]))
        fail_vertex(mesh_.first_vertex + static_cast<std::int64_t>(i / 3),
                    " has the coordinate " + number(mesh_.coordinates[i]) + "; coordinates must be finite");
  });
}

void Checks::vertex_numbers() const {
  collectively(comm_, [&] {
    for (std::size_t c = 0; c < num_cells(); ++c) {
      const std::int64_t* v = cell(c);
      const std::int64_t number_of_cell = mesh_.first_cell + static_cast<std::int64_t>(c);
      for (int i = 0; i < mesh_.nodes_per_cell(); ++i) {
        if (v[i] < 0 || v[i] >= mesh_.num_vertices)
          fail_cell(number_of_cell, " has vertex " + number(v[i]) + ", but vertices are numbered 0 to " +
                                        number(mesh_.num_vertices - 1) + "; correct the number or add the vertex");
        for (int j = 0; j < i; ++j)
          if (v[i] == v[j])
            fail_cell(number_of_cell, " has vertex " + number(v[i]) + " twice; remove the cell or give it " +
                                          (mesh_.order == 2 ? "ten" : "four") + " different vertices");
      }
    }
  });
}

/// Checks that cells have a positive volume (for order 2: a positive Jacobian). Also marks the vertices that belong to
/// a cell.
void Checks::volumes() {
  std::vector<std::int64_t> vertices = mesh_.cells;
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  const int count = static_cast<int>(vertices.size());
  const FileOrder order(comm_, mesh_.num_vertices, vertices, count, static_cast<int>(mesh_.coordinates.size() / 3));
  const std::vector<double> x = order.from_file(mesh_.coordinates, 3);
  used_.assign(mesh_.coordinates.size() / 3, 0.0);
  order.to_file(std::vector<double>(vertices.size(), 1.0), 1, used_);
  std::int64_t unused = std::count(used_.begin(), used_.end(), 0.0);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &unused, 1, MPI_INT64_T, MPI_SUM, comm_));
  mesh_.num_unused_vertices = unused;

  const auto positions = [&](std::size_t c) {
    QuadraticCell nodes{};
    for (std::size_t a = 0; a < width(); ++a) {
      const auto place = std::lower_bound(vertices.begin(), vertices.end(), cell(c)[a]) - vertices.begin();
      std::copy_n(&x[3 * static_cast<std::size_t>(place)], 3, nodes[a].begin());
    }
    return nodes;
  };
  std::int64_t inverted = 0, first_bad = -1;
  for (std::size_t c = 0; c < num_cells(); ++c) {
    const double relative = relative_determinant(positions(c));
    if (relative < -min_relative_volume) ++inverted;
    if (!(relative > min_relative_volume) && first_bad < 0) first_bad = static_cast<std::int64_t>(c);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &inverted, 1, MPI_INT64_T, MPI_SUM, comm_));
  collectively(comm_, [&] {
    if (first_bad < 0) return;
    const double relative = relative_determinant(positions(static_cast<std::size_t>(first_bad)));
    const std::int64_t bad = mesh_.first_cell + first_bad;
    if (std::isnan(relative)) fail_cell(bad, " has an edge too long for double precision; check the coordinates");
    if (relative >= -min_relative_volume)
      fail_cell(bad, " has zero volume; remove it, move its vertices apart, or mesh that region again");
    if (inverted == mesh_.num_cells && inverted > 1)
      fail_cell(bad, " and all others are inverted; swap two vertices in every cell, or undo the mirroring");
    fail_cell(bad, " is inverted (" + number(inverted) + " of " + number(mesh_.num_cells) +
                       " cells are); swap two of its vertices, or mesh that region again");
  });
  if (mesh_.order == 1) return;
  collectively(comm_, [&] {
    for (std::size_t c = 0; c < num_cells(); ++c)
      if (!(least_relative_jacobian(positions(c)) > min_relative_volume))
        fail_cell(mesh_.first_cell + static_cast<std::int64_t>(c), folded_cell);
  });
}

/// Checks that no two cells are equal and that at most two cells share a face. All faces with the same three vertices
/// are sent to one rank.
void Checks::faces() const {
  struct Face {
    std::array<std::int64_t, 3> vertices;  // ascending
    std::int64_t opposite;
    std::int64_t cell;
    bool operator<(const Face& other) const {
      return std::tie(vertices, opposite, cell) < std::tie(other.vertices, other.opposite, other.cell);
    }
  };
  std::vector<Face> mine;
  mine.reserve(4 * num_cells());
  for (std::size_t c = 0; c < num_cells(); ++c) {
    const std::int64_t* v = cell(c);
    for (int a = 0; a < 4; ++a) {
      Face face{
          {v[(a + 1) % 4], v[(a + 2) % 4], v[(a + 3) % 4]}, v[a], mesh_.first_cell + static_cast<std::int64_t>(c)};
      std::sort(face.vertices.begin(), face.vertices.end());
      mine.push_back(face);
    }
  }
  std::vector<Face> met = redistribute(comm_, mine, [&](const Face& face) {
    std::uint64_t hash = 0;
    for (const std::int64_t vertex : face.vertices) hash = mix_bits(hash ^ static_cast<std::uint64_t>(vertex));
    return rank_of(hash);
  });
  mine = {};
  std::sort(met.begin(), met.end());
  collectively(comm_, [&] {
    for (std::size_t i = 1; i < met.size(); ++i) {
      const Face &before = met[i - 1], &face = met[i];
      if (before.vertices != face.vertices) continue;
      if (before.opposite == face.opposite)
        fail_cell(face.cell, " has the same vertices as cell " + number(before.cell) + "; remove one of the two");
      if (i < 2 || met[i - 2].vertices != face.vertices) continue;
      fail_cell(std::max({face.cell, before.cell, met[i - 2].cell}),
                " has the face of vertices " + number(face.vertices[0]) + ", " + number(face.vertices[1]) + ", " +
                    number(face.vertices[2]) + ", which more than two cells have; remove the cells that overlap there");
    }
  });
}

/// Checks that an edge has one node and that a node is on one edge. First, all entries with the same edge are sent to
/// one rank. Then all entries with the same node are sent to one rank.
void Checks::edges() const {
  std::vector<EdgeNode> mine = edge_nodes(mesh_);
  std::vector<EdgeNode> met = redistribute(comm_, mine, [&](const EdgeNode& node) {
    return rank_of(mix_bits(mix_bits(static_cast<std::uint64_t>(node.low)) ^ static_cast<std::uint64_t>(node.high)));
  });
  const auto refuse = [&](const std::optional<EdgeFault>& fault) {
    collectively(comm_, [&] {
      if (fault) fail_cell(fault->cell, fault->what);
    });
  };
  refuse(edge_with_two_nodes(met));
  met = redistribute(comm_, mine, [&](const EdgeNode& node) { return rank_of(static_cast<std::uint64_t>(node.node)); });
  refuse(node_on_two_edges(met));
}

/// Checks that no two vertices of cells coincide. All vertices of cells at the same position are sent to one rank.
void Checks::positions() const {
  struct Place {
    Point x;
    std::int64_t vertex;
  };
  std::vector<Place> mine;
  for (std::size_t v = 0; v < used_.size(); ++v) {
    if (used_[v] == 0.0) continue;
    Place place{{}, mesh_.first_vertex + static_cast<std::int64_t>(v)};
    for (std::size_t i = 0; i < 3; ++i) place.x[i] = mesh_.coordinates[3 * v + i] + 0.0;  // -0 becomes 0
    mine.push_back(place);
  }
  std::vector<Place> met = redistribute(
      comm_, mine, [&](const Place& place) { return rank_of(checksum(place.x.data(), place.x.size(), 0)); });
  std::sort(met.begin(), met.end(),
            [](const Place& a, const Place& b) { return std::tie(a.x, a.vertex) < std::tie(b.x, b.vertex); });
  collectively(comm_, [&] {
    for (std::size_t i = 1; i < met.size(); ++i)
      if (met[i].x == met[i - 1].x)
        fail_vertex(met[i].vertex, " is at the same position as vertex " + number(met[i - 1].vertex) + " (" +
                                       number(met[i].x[0]) + ", " + number(met[i].x[1]) + ", " + number(met[i].x[2]) +
                                       "); merge the two");
  });
}

}  // namespace

void validate_blocks(MPI_Comm comm, MeshData& mesh, const std::string& path, bool allow_coincident_vertices) {
  Checks checks(comm, mesh, path);
  checks.coordinates();
  checks.vertex_numbers();
  checks.volumes();
  checks.faces();
  if (mesh.order == 2) checks.edges();
  if (!allow_coincident_vertices) checks.positions();
}

}  // namespace diffsim
