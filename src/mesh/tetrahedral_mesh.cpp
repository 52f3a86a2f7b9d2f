// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/tetrahedral_mesh.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "boundary_faces.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/mesh/box.hpp"
#include "diffsim/mesh/elevate.hpp"
#include "hilbert.hpp"
#include "local_nodes.hpp"
#include "partition.hpp"

namespace diffsim {
namespace {

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<int>& order) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[static_cast<std::size_t>(order[i])];
  return result;
}

}  // namespace

std::shared_ptr<TetrahedralMesh> TetrahedralMesh::box(MPI_Comm comm, std::array<double, 3> size,
                                                      std::array<int, 3> cells, int order) {
  if (order != 1 && order != 2) throw InputError("box: order " + std::to_string(order) + " is not known; use 1 or 2");
  int rank = 0, ranks = 1;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  MeshData data;
  collectively(comm, [&] { data = box_mesh(size, cells, rank, ranks); });
  if (order == 2) elevate(comm, data);
  return std::make_shared<TetrahedralMesh>(comm, data);
}

TetrahedralMesh::TetrahedralMesh(MPI_Comm comm, const MeshData& data)
    : comm_(comm), order_(data.order), num_unused_(data.num_unused_vertices), infos_(data.regions) {
  const ProfilingRegion region("diffsim::mesh::build");
  number(data);
}

TetrahedralMesh::~TetrahedralMesh() = default;

void TetrahedralMesh::number(const MeshData& data) {
  Partition partition = partition_cells(comm_, data);
  const std::size_t num_cells = partition.cell_file_index.size();
  const auto width = static_cast<std::size_t>(nodes_per_cell());

  const LocalNodes nodes = local_nodes(comm_, partition,
                                       FileOrder(comm_, data.num_cells, partition.cell_file_index,
                                                 static_cast<int>(num_cells), static_cast<int>(data.block_cells()))
                                           .from_file(data.cells, nodes_per_cell()),
                                       nodes_per_cell(), data.num_vertices);
  const std::size_t num_vertices = nodes.file_index.size();
  const FileOrder plex_vertices(comm_, data.num_vertices, nodes.file_index, 0, static_cast<int>(data.block_vertices()));
  const std::vector<double> plex_positions = plex_vertices.from_file(data.coordinates, 3);

  // Cells along a Hilbert curve, vertices as cells first touch them, owned before ghosts.
  std::vector<double> centroids(3 * num_cells, 0.0);
  for (std::size_t i = 0; i < 4 * num_cells; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      centroids[3 * (i / 4) + c] +=
          0.25 * plex_positions[3 * static_cast<std::size_t>(nodes.cells[i / 4 * width + i % 4]) + c];
  const std::vector<int> cell_order = hilbert_order(centroids);
  std::vector<int> vertex_of_plex(num_vertices, -1);
  int next_owned = 0;
  const auto number_owned = [&](std::size_t v) {
    if (!nodes.is_ghost[v] && vertex_of_plex[v] < 0) vertex_of_plex[v] = next_owned++;
  };
  for (const int cell : cell_order)
    for (std::size_t a = 0; a < width; ++a)
      number_owned(static_cast<std::size_t>(nodes.cells[width * static_cast<std::size_t>(cell) + a]));
  // A vertex may be owned by a rank whose cells all lost it only through DMPlex; number such ones, then ghosts.
  for (std::size_t v = 0; v < num_vertices; ++v) number_owned(v);
  int next_ghost = next_owned;
  for (std::size_t v = 0; v < num_vertices; ++v)
    if (nodes.is_ghost[v]) vertex_of_plex[v] = next_ghost++;
  std::vector<int> plex_of_vertex(num_vertices);  // local vertex → DMPlex's number of a corner
  for (std::size_t v = 0; v < num_vertices; ++v)
    plex_of_vertex[static_cast<std::size_t>(vertex_of_plex[v])] = static_cast<int>(v);

  cells_.resize(width * num_cells);
  for (std::size_t c = 0; c < num_cells; ++c)
    for (std::size_t a = 0; a < width; ++a)
      cells_[width * c + a] =
          vertex_of_plex[static_cast<std::size_t>(nodes.cells[width * static_cast<std::size_t>(cell_order[c]) + a])];
  positions_.resize(3 * num_vertices);
  for (std::size_t v = 0; v < num_vertices; ++v)
    for (std::size_t c = 0; c < 3; ++c)
      positions_[3 * v + c] = plex_positions[3 * static_cast<std::size_t>(plex_of_vertex[v]) + c];

  const std::vector<std::int64_t> cell_file_index = permuted(partition.cell_file_index, cell_order);
  const std::vector<std::int64_t> vertex_file_index = permuted(nodes.file_index, plex_of_vertex);
  cell_order_ = std::make_unique<FileOrder>(comm_, data.num_cells, cell_file_index, static_cast<int>(num_cells));
  vertex_order_ = std::make_unique<FileOrder>(comm_, data.num_vertices, vertex_file_index, next_owned);
  std::vector<PetscInt> owner, index;
  ghost_owners(comm_, *vertex_order_, next_owned, owner, index);
  halo_ = std::make_unique<Halo>(comm_, next_owned, owner, index);

  const FileOrder cell_blocks(comm_, data.num_cells, cell_file_index, static_cast<int>(num_cells),
                              static_cast<int>(data.block_cells()));
  const FileOrder vertex_blocks(comm_, data.num_vertices, vertex_file_index, next_owned,
                                static_cast<int>(data.block_vertices()));
  read_groups(data, cell_blocks, vertex_blocks);

  // The even blocks of file positions come straight from the reader's blocks.
  std::vector<std::int64_t> block(static_cast<std::size_t>(vertex_order_->block_size()));
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = vertex_order_->block_begin() + static_cast<std::int64_t>(i);
  const FileOrder even(comm_, data.num_vertices, block, static_cast<int>(block.size()),
                       static_cast<int>(data.block_vertices()));
  file_positions_ = even.from_file(data.coordinates, 3);
}

Face TetrahedralMesh::face(int cell, int opposite) const {
  Face result{cell, {}};
  const auto node = [&](std::size_t i) {
    return cells_[static_cast<std::size_t>(nodes_per_cell() * cell + face_nodes[opposite][i])];
  };
  for (std::size_t i = 0; i < 3; ++i) result.vertices[i] = node(i);
  for (std::size_t i = 0; i < 3 && order_ == 2; ++i) result.middles[i] = node(3 + i);
  return result;
}

const std::vector<Face>& TetrahedralMesh::boundary() const {
  if (boundary_) return *boundary_;
  const std::vector<std::pair<int, int>> found =
      boundary_faces(comm_, cells_, nodes_per_cell(), vertex_order_->file_index(), num_global_vertices());
  boundary_ = std::make_unique<std::vector<Face>>();
  for (const auto& [cell, opposite] : found) boundary_->push_back(face(cell, opposite));
  return *boundary_;
}

}  // namespace diffsim
