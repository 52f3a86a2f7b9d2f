// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/tetrahedral_mesh.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "boundary_faces.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/huge_pages.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/box.hpp"
#include "diffsim/mesh/cell_scatter.hpp"
#include "diffsim/mesh/elevate.hpp"
#include "diffsim/mesh/quadrature.hpp"
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

/// The degree of quadrature that a mesh of that order is given, checked, or its default.
int degree_for(int order, const std::optional<int>& given) {
  if (order == 1 && given)
    throw InputError(
        "quadrature_degree is for second-order cells, linear ones have one point; use order 2 or leave it out");
  if (given && *given != FourPoints::degree && *given != FourteenPoints::degree)
    throw InputError("quadrature_degree " + std::to_string(*given) + " is not known; use 2 or 5");
  return given.value_or(order);
}

}  // namespace

std::shared_ptr<TetrahedralMesh> TetrahedralMesh::box(MPI_Comm comm, std::array<double, 3> size,
                                                      std::array<int, 3> cells, int order,
                                                      std::optional<int> quadrature_degree) {
  if (order != 1 && order != 2) throw InputError("box: order " + std::to_string(order) + " is not known; use 1 or 2");
  degree_for(order, quadrature_degree);
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  MeshData data;
  collectively(comm, [&] { data = box_mesh(size, cells, rank, ranks); });
  if (order == 2) elevate(comm, data);
  return std::make_shared<TetrahedralMesh>(comm, std::move(data), quadrature_degree);
}

TetrahedralMesh::TetrahedralMesh(MPI_Comm comm, MeshData data, std::optional<int> quadrature_degree)
    : comm_(comm),
      order_(data.order),
      quadrature_degree_(degree_for(data.order, quadrature_degree)),
      num_unused_(data.num_unused_vertices),
      bodies_(data.bodies),
      infos_(data.regions) {
  const ProfilingRegion region("diffsim::mesh::build");
  number(data);
  release_free_memory();
}

TetrahedralMesh::~TetrahedralMesh() = default;

void TetrahedralMesh::number(MeshData& data) {
  const auto block_cells = static_cast<int>(data.block_cells()),
             block_vertices = static_cast<int>(data.block_vertices());
  const auto width = static_cast<std::size_t>(nodes_per_cell());
  std::vector<std::int64_t> found_cells = partition_cells(comm_, data);
  release_free_memory();  // one rank may have had all cells
  num_cells_ = static_cast<int>(found_cells.size());
  const auto num_cells = static_cast<std::size_t>(num_cells_);
  std::vector<std::int64_t> file_cells =
      FileOrder(comm_, data.num_cells, found_cells, num_cells_, block_cells).from_file(data.cells, nodes_per_cell());
  // What is not needed any more is freed at once, here and below: set-up shall not take more than the run.
  data.cells = {};
  LocalNodes nodes = local_nodes(comm_, file_cells, data.num_vertices);
  file_cells = {};
  const std::size_t num_vertices = nodes.file_index.size();
  auto node_order = std::make_unique<FileOrder>(comm_, data.num_vertices, nodes.file_index, 0, block_vertices);
  std::vector<double> node_positions = node_order->from_file(data.coordinates, 3);

  // Shared cells first, all along a Hilbert curve; vertices as cells first touch them, owned before ghosts.
  std::vector<int> cell_order;
  {
    std::vector<double> centroids(3 * num_cells, 0.0);
    for (std::size_t i = 0; i < 4 * num_cells; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        centroids[3 * (i / 4) + c] +=
            0.25 * node_positions[3 * static_cast<std::size_t>(nodes.cells[i / 4 * width + i % 4]) + c];
    cell_order = hilbert_order(centroids);
    const std::vector<char> is_shared = shared_cells(nodes, *node_order);
    const auto inner = std::stable_partition(cell_order.begin(), cell_order.end(),
                                             [&](int cell) { return is_shared[static_cast<std::size_t>(cell)] != 0; });
    num_shared_cells_ = static_cast<int>(inner - cell_order.begin());
  }
  node_order.reset();
  std::vector<int> number_of_node(num_vertices, -1);
  int next_owned = 0;
  for (const int cell : cell_order)
    for (std::size_t a = 0; a < width; ++a) {
      const auto v = static_cast<std::size_t>(nodes.cells[width * static_cast<std::size_t>(cell) + a]);
      if (!nodes.is_ghost[v] && number_of_node[v] < 0) number_of_node[v] = next_owned++;
    }
  int next_ghost = next_owned;
  for (std::size_t v = 0; v < num_vertices; ++v)
    if (nodes.is_ghost[v]) number_of_node[v] = next_ghost++;
  std::vector<int> node_of_vertex(num_vertices);  // local vertex → place in `nodes`
  for (std::size_t v = 0; v < num_vertices; ++v)
    node_of_vertex[static_cast<std::size_t>(number_of_node[v])] = static_cast<int>(v);

  reserve_in_huge_pages(cells_, width * static_cast<std::size_t>(CellScatter::num_padded(num_cells_)));
  cells_.resize(width * static_cast<std::size_t>(CellScatter::num_padded(num_cells_)));
  for (std::size_t c = 0; c < num_cells; ++c)
    for (std::size_t a = 0; a < width; ++a)
      cells_[width * c + a] =
          number_of_node[static_cast<std::size_t>(nodes.cells[width * static_cast<std::size_t>(cell_order[c]) + a])];
  CellScatter::fill_up(cells_, num_cells_, nodes_per_cell());
  nodes.cells = {};
  positions_.resize(3 * num_vertices);
  for (std::size_t v = 0; v < num_vertices; ++v)
    for (std::size_t c = 0; c < 3; ++c)
      positions_[3 * v + c] = node_positions[3 * static_cast<std::size_t>(node_of_vertex[v]) + c];
  node_positions = {};
  scatter_ = std::make_unique<CellScatter>(cells_, num_cells_, num_shared_cells_, nodes_per_cell(),
                                           static_cast<int>(num_vertices));

  const std::vector<std::int64_t> cell_file_index = permuted(found_cells, cell_order);
  found_cells = {};
  cell_order = {};
  const std::vector<std::int64_t> vertex_file_index = permuted(nodes.file_index, node_of_vertex);
  const auto order_of_cells = std::make_shared<FileOrder>(comm_, data.num_cells, cell_file_index, num_cells_);
  order_of_cells->keep_no_graphs();
  cell_order_ = order_of_cells;
  vertex_order_ = std::make_shared<const FileOrder>(comm_, data.num_vertices, vertex_file_index, next_owned);
  std::vector<PetscInt> owner, index;
  ghost_owners(comm_, *vertex_order_, next_owned, owner, index);
  vertex_exchange_ = std::make_shared<const Exchange>(comm_, next_owned, owner, index);

  const FileOrder cell_blocks(comm_, data.num_cells, cell_file_index, num_cells_, block_cells);
  const FileOrder vertex_blocks(comm_, data.num_vertices, vertex_file_index, next_owned, block_vertices);
  read_groups(data, cell_blocks, vertex_blocks);
  find_unused(data.coordinates, block_vertices);
  // Anew, without the graphs and buffers that it made for this; a run that reads and writes nothing needs none.
  vertex_order_ = std::make_shared<const FileOrder>(comm_, data.num_vertices, vertex_file_index, next_owned);
  const auto owned = static_cast<std::size_t>(next_owned);
  vertices_ = std::make_shared<const Entities>("vertices", comm_, owned, vertex_order_, vertex_exchange_);
  owned_vertices_ = Entities::without_copies(vertices_);
  cell_entities_ = std::make_shared<const Entities>("cells", comm_, num_cells, cell_order_);
}

/// For each cell, whether one of its vertices is another rank's too. Collective.
std::vector<char> TetrahedralMesh::shared_cells(const LocalNodes& nodes, const FileOrder& vertices) const {
  // Who has a copy tells the file's block of the vertex, which tells all that have it.
  std::vector<std::int64_t> ghosts;
  for (std::size_t v = 0; v < nodes.file_index.size(); ++v)
    if (nodes.is_ghost[v]) ghosts.push_back(nodes.file_index[v]);
  std::vector<char> marks(static_cast<std::size_t>(vertices.block_size()), 0);
  FileOrder(comm_, vertices.num_global(), ghosts, static_cast<int>(ghosts.size()), static_cast<int>(marks.size()))
      .to_file(std::vector<char>(ghosts.size(), 1), 1, marks);
  const std::vector<char> is_shared = vertices.from_file(marks, 1);
  const auto width = static_cast<std::size_t>(nodes_per_cell());
  std::vector<char> result(nodes.cells.size() / width, 0);
  for (std::size_t i = 0; i < nodes.cells.size(); ++i)
    if (is_shared[static_cast<std::size_t>(nodes.cells[i])] != 0) result[i / width] = 1;
  return result;
}

/// Keeps the positions of vertices that no cell has, of this rank's even block of the file's.
void TetrahedralMesh::find_unused(const std::vector<double>& coordinates, int block_vertices) {
  std::vector<char> used(static_cast<std::size_t>(vertex_order_->block_size()), 0);
  vertex_order_->to_file(std::vector<char>(static_cast<std::size_t>(num_vertices()), 1), 1, used);
  std::vector<std::int64_t> unused;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] == 0) unused.push_back(vertex_order_->block_begin() + static_cast<std::int64_t>(i));
  const std::vector<double> x =
      FileOrder(comm_, num_global_vertices(), unused, static_cast<int>(unused.size()), block_vertices)
          .from_file(coordinates, 3);
  for (std::size_t i = 0; i < unused.size(); ++i)
    unused_.push_back({unused[i] - vertex_order_->block_begin(), {x[3 * i], x[3 * i + 1], x[3 * i + 2]}});
}

std::vector<double> TetrahedralMesh::file_positions() const {
  std::vector<double> block(3 * static_cast<std::size_t>(vertex_order_->block_size()));
  for (const auto& [place, x] : unused_) std::copy(x.begin(), x.end(), block.begin() + 3 * place);
  vertex_order_->to_file(positions_, 3, block);
  return block;
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
      boundary_faces(comm_, cells(), nodes_per_cell(), vertex_order_->file_index(), num_global_vertices());
  boundary_ = std::make_unique<std::vector<Face>>();
  for (const auto& [cell, opposite] : found) boundary_->push_back(face(cell, opposite));
  return *boundary_;
}

}  // namespace diffsim
