// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "local_nodes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/even_share.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/core/redistribute.hpp"

namespace diffsim {
namespace {

/// A vertex, a rank that has it, and the lowest one that does.
struct Copy {
  std::int64_t vertex;
  std::int64_t rank;
  std::int64_t owner;
};

bool by_vertex(const Copy& a, const Copy& b) { return std::tie(a.vertex, a.rank) < std::tie(b.vertex, b.rank); }

/// For each of this rank's `vertices` (ascending), the lowest rank that has it. They meet at even shares of the file.
std::vector<std::int64_t> lowest_ranks(MPI_Comm comm, const std::vector<std::int64_t>& vertices,
                                       std::int64_t num_vertices) {
  const int rank = rank_of(comm);
  const EvenShare shares(comm, num_vertices);
  std::vector<Copy> copies;
  for (const std::int64_t vertex : vertices) copies.push_back({vertex, rank, rank});
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

LocalNodes local_nodes(MPI_Comm comm, const std::vector<std::int64_t>& file_cells, std::int64_t num_vertices) {
  LocalNodes nodes{file_cells, {}, {}};
  std::vector<std::int64_t>& vertices = nodes.file_index;
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  vertices.shrink_to_fit();
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  nodes.is_ghost.assign(vertices.size(), 0);
  if (ranks > 1) {
    const std::vector<std::int64_t> owners = lowest_ranks(comm, vertices, num_vertices);
    for (std::size_t v = 0; v < owners.size(); ++v) nodes.is_ghost[v] = owners[v] != rank;
  }
  nodes.cells.resize(file_cells.size());
  for (std::size_t i = 0; i < file_cells.size(); ++i)
    nodes.cells[i] =
        static_cast<int>(std::lower_bound(vertices.begin(), vertices.end(), file_cells[i]) - vertices.begin());
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
