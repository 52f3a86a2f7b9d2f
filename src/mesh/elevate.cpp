// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/elevate.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/even_share.hpp"
#include "core/file_order.hpp"
#include "core/free_elements.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "mesh/memberships.hpp"

namespace diffsim {
namespace {

/// Edge of the mesh, and a rank with a cell that has this edge.
struct Edge {
  std::int64_t low, high;  // end vertices
  std::int64_t rank;
  std::int64_t middle = -1;  // number of the mid-edge node

  std::pair<std::int64_t, std::int64_t> ends() const { return {low, high}; }
};

bool by_ends(const Edge& a, const Edge& b) { return a.ends() < b.ends(); }
bool same_ends(const Edge& a, const Edge& b) { return a.ends() == b.ends(); }

std::pair<std::int64_t, std::int64_t> edge_of(const std::int64_t* cell, const int (&corners)[2]) {
  return std::minmax(cell[corners[0]], cell[corners[1]]);
}

/// Distinct edges of this rank's cells, sorted by their end vertices.
std::vector<Edge> local_edges(const MeshData& mesh, int rank) {
  std::vector<Edge> edges;
  edges.reserve(mesh.cells.size() / 4 * 6);
  for (std::size_t c = 0; c < mesh.cells.size(); c += 4)
    for (const auto& corners : edge_corners) {
      const auto [low, high] = edge_of(&mesh.cells[c], corners);
      edges.push_back({low, high, rank});
    }
  std::sort(edges.begin(), edges.end(), by_ends);
  edges.erase(std::unique(edges.begin(), edges.end(), same_ends), edges.end());
  return edges;
}

/// Converts a mesh to second order. Vertices are split evenly over the ranks, in order. The rank whose part contains
/// the lower-numbered end of an edge creates the mid-edge node of the edge.
class Elevation {
 public:
  Elevation(MPI_Comm comm, MeshData& mesh) : comm_(comm), mesh_(mesh), shares_(comm, mesh.num_vertices) {
    rank_ = rank_of(comm_);
  }

  void run() {
    number_edges();
    make_cells();
    std::vector<double> middles = make_coordinates();
    place_vertices(std::move(middles));
    mesh_.order = 2;
  }

 private:
  /// Numbers the mid-edge nodes. Each edge is sent to the rank whose part of the vertices contains the edge's
  /// lower-numbered end. The edges are then in lexicographic order from rank to rank.
  void number_edges() {
    mine_ = local_edges(mesh_, rank_);
    std::vector<Edge> met = redistribute(comm_, mine_, [&](const Edge& edge) { return shares_.owner(edge.low); });
    std::sort(met.begin(), met.end(), by_ends);
    made_.clear();
    std::unique_copy(met.begin(), met.end(), std::back_inserter(made_), same_ends);
    const auto count = static_cast<std::int64_t>(made_.size());
    std::int64_t before = 0;
    DIFFSIM_MPI(MPI_Exscan(&count, &before, 1, MPI_INT64_T, MPI_SUM, comm_));
    if (rank_ == 0) before = 0;
    num_edges_ = count;
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &num_edges_, 1, MPI_INT64_T, MPI_SUM, comm_));
    if (num_edges_ > std::numeric_limits<PetscInt>::max() - mesh_.num_vertices)
      throw Error("the mesh has more vertices and edges than this PETSc can number; use a PETSc with 64-bit indices");
    std::int64_t next = mesh_.num_vertices + before - 1;
    for (std::size_t i = 0, distinct = 0; i < met.size(); ++i) {
      if (i == 0 || !same_ends(met[i - 1], met[i])) made_[distinct++].middle = ++next;
      met[i].middle = next;
    }
    mine_ = redistribute(comm_, met, [](const Edge& edge) { return static_cast<int>(edge.rank); });
    std::sort(mine_.begin(), mine_.end(), by_ends);
  }

  void make_cells() {
    std::vector<std::int64_t> cells;
    cells.reserve(mesh_.cells.size() / 4 * 10);
    for (std::size_t c = 0; c < mesh_.cells.size(); c += 4) {
      cells.insert(cells.end(), &mesh_.cells[c], &mesh_.cells[c] + 4);
      for (const auto& corners : edge_corners) {
        const auto [low, high] = edge_of(&mesh_.cells[c], corners);
        cells.push_back(std::lower_bound(mine_.begin(), mine_.end(), Edge{low, high, 0}, by_ends)->middle);
      }
    }
    mesh_.cells = std::move(cells);
    free_elements(mine_);
  }

  /// Returns the coordinates of the mid-edge nodes created on this rank, and adds these nodes to the regions of curves.
  std::vector<double> make_coordinates() {
    std::vector<std::int64_t> ends;
    for (const Edge& edge : made_) ends.insert(ends.end(), {edge.low, edge.high});
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    const FileOrder order(comm_, mesh_.num_vertices, ends, 0, static_cast<int>(mesh_.block_vertices()));
    const std::vector<double> x = order.from_file(mesh_.coordinates, 3);
    const auto place = [&](std::int64_t vertex) {
      return static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), vertex) - ends.begin());
    };
    std::vector<double> middles;
    middles.reserve(3 * made_.size());
    for (const Edge& edge : made_)
      for (std::size_t c = 0; c < 3; ++c)
        middles.push_back(0.5 * x[3 * place(edge.low) + c] + 0.5 * x[3 * place(edge.high) + c]);

    std::vector<std::pair<std::int64_t, int>> entries;
    for (const auto& entry : mesh_.vertex_regions)
      if (mesh_.regions[static_cast<std::size_t>(entry.region)].dimension == 1)
        entries.emplace_back(entry.vertex - mesh_.first_vertex, entry.region);
    // For each end vertex: the regions of curves that contain the vertex, ascending.
    std::vector<std::vector<int>> curves(ends.size());
    distribute_memberships(order, 1, mesh_.regions.size(), entries,
                           [&](int end, int region) { curves[static_cast<std::size_t>(end)].push_back(region); });
    for (const Edge& edge : made_)
      for (const int region : curves[place(edge.low)]) {
        const auto& other = curves[place(edge.high)];
        if (std::binary_search(other.begin(), other.end(), region))
          mesh_.vertex_regions.push_back({edge.middle, region});
      }
    return middles;
  }

  /// Redistributes all vertices and their region entries in blocks of nearly equal size.
  void place_vertices(std::vector<double> middles) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t v = 0; v < mesh_.block_vertices(); ++v) numbers.push_back(mesh_.first_vertex + v);
    for (const Edge& edge : made_) numbers.push_back(edge.middle);
    mesh_.coordinates.insert(mesh_.coordinates.end(), middles.begin(), middles.end());
    mesh_.num_vertices += num_edges_;
    const int count = static_cast<int>(numbers.size());
    const FileOrder order(comm_, mesh_.num_vertices, std::move(numbers), count);
    std::vector<double> block;
    order.to_file(mesh_.coordinates, 3, block);
    mesh_.coordinates = std::move(block);
    mesh_.first_vertex = order.block_begin();

    const EvenShare shares(comm_, mesh_.num_vertices);
    auto& entries = mesh_.vertex_regions;
    entries =
        redistribute(comm_, entries, [&](const MeshData::VertexRegion& entry) { return shares.owner(entry.vertex); });
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return std::tie(a.region, a.vertex) < std::tie(b.region, b.vertex); });
  }

  MPI_Comm comm_;
  MeshData& mesh_;
  EvenShare shares_;
  int rank_ = 0;
  std::int64_t num_edges_ = 0;
  std::vector<Edge> mine_;  // edges of this rank's cells
  std::vector<Edge> made_;  // edges whose nodes this rank creates
};

}  // namespace

void elevate(MPI_Comm comm, MeshData& mesh) {
  const ProfilingRegion region("diffsim::mesh::elevate");
  if (mesh.order != 1) return;
  if (!mesh.bodies.empty())
    throw InputError(
        "the nodes of a mesh of several bodies would not follow each other by body; elevate the bodies first");
  Elevation(comm, mesh).run();
}

}  // namespace diffsim
