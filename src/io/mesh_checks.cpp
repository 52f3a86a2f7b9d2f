// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/mesh_checks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/file_order.hpp"
#include "core/free_elements.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "io/checksum.hpp"
#include "mesh/cell_defects.hpp"
#include "mesh/edge_nodes.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

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
    throw InputError(path_, 0, "/cells", "cell " + std::to_string(cell) + what);
  }
  [[noreturn]] void fail_vertex(std::int64_t vertex, const std::string& what) const {
    throw InputError(path_, 0, "/vertices", "vertex " + std::to_string(vertex) + what);
  }
  int rank_of(std::uint64_t hash) const { return static_cast<int>(hash % static_cast<std::uint64_t>(ranks_)); }

  std::size_t width() const { return static_cast<std::size_t>(mesh_.nodes_per_cell()); }
  const std::int64_t* cell(std::size_t index) const { return &mesh_.cells[width() * index]; }
  std::size_t num_cells() const { return mesh_.cells.size() / width(); }
  /// Returns the file number of the cell with the given index in this rank's block.
  std::int64_t number_of(std::size_t index) const { return mesh_.first_cell + static_cast<std::int64_t>(index); }

  MPI_Comm comm_;
  MeshData& mesh_;
  const std::string& path_;
  int ranks_ = 1;
  std::vector<double> used_;  // for each vertex of this rank's block: 1 if the vertex belongs to a cell, otherwise 0
};

void Checks::coordinates() const {
  collectively(comm_, [&] {
    for (std::size_t i = 0; i < mesh_.coordinates.size(); ++i)
      if (!std::isfinite(mesh_.coordinates[i]))
        fail_vertex(mesh_.first_vertex + static_cast<std::int64_t>(i / 3), coordinate_error(mesh_.coordinates[i]));
  });
}

void Checks::vertex_numbers() const {
  collectively(comm_, [&] {
    for (std::size_t c = 0; c < num_cells(); ++c)
      if (const std::string what = vertex_number_error(cell(c), mesh_.nodes_per_cell(), mesh_.num_vertices);
          !what.empty())
        fail_cell(number_of(c), what);
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
    const CellSize size = cell_size(positions(c));
    inverted += size.is_inverted();
    if (!size.is_good() && first_bad < 0) first_bad = static_cast<std::int64_t>(c);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &inverted, 1, MPI_INT64_T, MPI_SUM, comm_));
  collectively(comm_, [&] {
    if (first_bad < 0) return;
    const auto bad = static_cast<std::size_t>(first_bad);
    fail_cell(number_of(bad), size_error(cell_size(positions(bad)), inverted, mesh_.num_cells));
  });
  if (mesh_.order == 1) return;
  collectively(comm_, [&] {
    for (std::size_t c = 0; c < num_cells(); ++c)
      if (!(least_relative_jacobian(positions(c)) > min_relative_volume)) fail_cell(number_of(c), folded_cell);
  });
}

/// Checks that no two cells are equal and that at most two cells share a face. All faces with the same three vertices
/// are sent to one rank.
void Checks::faces() const {
  std::vector<CellFace> mine;
  mine.reserve(4 * num_cells());
  for (std::size_t c = 0; c < num_cells(); ++c)
    for (int a = 0; a < 4; ++a) mine.push_back(face_of(cell(c), a, number_of(c)));
  std::vector<CellFace> met = redistribute(comm_, mine, [&](const CellFace& face) {
    std::uint64_t hash = 0;
    for (const std::int64_t vertex : face.vertices) hash = mix_bits(hash ^ static_cast<std::uint64_t>(vertex));
    return rank_of(hash);
  });
  free_elements(mine);
  const std::optional<MeshDefect> defect = face_defect(met);
  collectively(comm_, [&] {
    if (defect) fail_cell(defect->index, defect->what);
  });
}

/// Checks that each edge has only one mid-edge node and that each mid-edge node is on only one edge. First, all entries
/// with the same edge are sent to one rank. Then all entries with the same node are sent to one rank.
void Checks::edges() const {
  std::vector<EdgeNode> mine = edge_nodes(mesh_);
  std::vector<EdgeNode> met = redistribute(comm_, mine, [&](const EdgeNode& node) {
    return rank_of(mix_bits(mix_bits(static_cast<std::uint64_t>(node.low)) ^ static_cast<std::uint64_t>(node.high)));
  });
  const auto refuse = [&](const std::optional<MeshDefect>& defect) {
    collectively(comm_, [&] {
      if (defect) fail_cell(defect->index, defect->what);
    });
  };
  refuse(edge_with_two_nodes(met));
  met = redistribute(comm_, mine, [&](const EdgeNode& node) { return rank_of(static_cast<std::uint64_t>(node.node)); });
  refuse(node_on_two_edges(met));
}

/// Checks that no two vertices of cells coincide. All vertices of cells at the same position are sent to one rank.
void Checks::positions() const {
  std::vector<PlacedVertex> mine;
  for (std::size_t v = 0; v < used_.size(); ++v) {
    if (used_[v] == 0.0) continue;
    PlacedVertex vertex{{}, mesh_.first_vertex + static_cast<std::int64_t>(v)};
    for (std::size_t i = 0; i < 3; ++i) vertex.x[i] = mesh_.coordinates[3 * v + i] + 0.0;  // -0 becomes 0
    mine.push_back(vertex);
  }
  std::vector<PlacedVertex> met = redistribute(
      comm_, mine, [&](const PlacedVertex& vertex) { return rank_of(checksum(vertex.x.data(), vertex.x.size(), 0)); });
  const std::optional<MeshDefect> defect = coincident_vertices(met);
  collectively(comm_, [&] {
    if (defect) fail_vertex(defect->index, defect->what);
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
