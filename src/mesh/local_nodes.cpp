// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/local_nodes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/even_share.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Vertex on a rank, with the vertex's owner: the lowest rank that has a cell at the vertex.
struct Copy {
  std::int64_t vertex;
  std::int64_t rank;
  std::int64_t owner;
  std::int64_t has_no_cell;  // 1 if `rank` has no cell at the vertex
};

bool by_vertex(const Copy& a, const Copy& b) {
  return std::tie(a.vertex, a.has_no_cell, a.rank) < std::tie(b.vertex, b.has_no_cell, b.rank);
}

/// Returns the owner of each of this rank's `vertices` (ascending): the lowest rank with a cell at the vertex.
/// `has_cell` [vertices]: non-zero if this rank has a cell at the vertex. The file's vertices are split evenly over the
/// ranks (EvenShare), and the copies of a vertex are compared on the rank whose part contains the vertex.
std::vector<std::int64_t> lowest_ranks(MPI_Comm comm, const std::vector<std::int64_t>& vertices,
                                       const std::vector<char>& has_cell, std::int64_t num_vertices) {
  const int rank = rank_of(comm);
  const EvenShare shares(comm, num_vertices);
  std::vector<Copy> copies;
  for (std::size_t v = 0; v < vertices.size(); ++v) copies.push_back({vertices[v], rank, rank, has_cell[v] == 0});
  copies = redistribute(comm, copies, [&](const Copy& copy) { return shares.owner(copy.vertex); });
  std::sort(copies.begin(), copies.end(), by_vertex);
  for (std::size_t i = 1; i < copies.size(); ++i)
    if (copies[i].vertex == copies[i - 1].vertex) copies[i].owner = copies[i - 1].owner;
  copies = redistribute(comm, copies, [](const Copy& copy) { return static_cast<int>(copy.rank); });
  std::sort(copies.begin(), copies.end(), by_vertex);
  std::vector<std::int64_t> owners;
  for (const Copy& copy : copies) owners.push_back(copy.owner);
  return owners;
}

}  // namespace

int LocalNodes::place(std::int64_t vertex) const {
  return static_cast<int>(std::lower_bound(file_index.begin(), file_index.end(), vertex) - file_index.begin());
}

LocalNodes local_nodes(MPI_Comm comm, const std::vector<std::int64_t>& file_cells,
                       const std::vector<std::int64_t>& others, std::int64_t num_vertices) {
  LocalNodes nodes{file_cells, {}, {}};
  std::vector<std::int64_t>& vertices = nodes.file_index;
  vertices.insert(vertices.end(), others.begin(), others.end());
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  vertices.shrink_to_fit();
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  nodes.is_ghost.assign(vertices.size(), 0);
  nodes.cells.resize(file_cells.size());
  for (std::size_t i = 0; i < file_cells.size(); ++i) nodes.cells[i] = nodes.place(file_cells[i]);
  if (ranks > 1) {
    std::vector<char> has_cell(vertices.size(), 0);
    for (const int node : nodes.cells) has_cell[static_cast<std::size_t>(node)] = 1;
    const std::vector<std::int64_t> owners = lowest_ranks(comm, vertices, has_cell, num_vertices);
    for (std::size_t v = 0; v < owners.size(); ++v) nodes.is_ghost[v] = owners[v] != rank;
  }
  return nodes;
}

void ghost_owners(MPI_Comm comm, const FileOrder& vertices, int num_owned, std::vector<PetscInt>& owner,
                  std::vector<PetscInt>& index) {
  const int rank = rank_of(comm);
  std::vector<PetscInt> places, block;
  for (int v = 0; v < num_owned; ++v) places.insert(places.end(), {rank, v});
  vertices.to_file(places, 2, block);
  const std::vector<PetscInt> all = vertices.from_file(block, 2);
  owner.clear();
  index.clear();
  for (auto v = 2 * static_cast<std::size_t>(num_owned); v < all.size(); v += 2) {
    owner.push_back(all[v]);
    index.push_back(all[v + 1]);
  }
}

}  // namespace diffsim
