// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/tetrahedral_mesh.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "core/exchange.hpp"
#include "core/free_elements.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/cell_scatter.hpp"
#include "diffsim/core/impl/huge_pages.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "diffsim/mesh/impl/quadrature.hpp"
#include "mesh/bodies.hpp"
#include "mesh/boundary_faces.hpp"
#include "mesh/cell_batch.hpp"
#include "mesh/elevate.hpp"
#include "mesh/local_nodes.hpp"
#include "mesh/partition.hpp"
#include "mesh/vertices_across.hpp"

namespace diffsim {
namespace {

template <class T>
std::vector<T> permuted(const std::vector<T>& values, const std::vector<int>& order) {
  std::vector<T> result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = values[static_cast<std::size_t>(order[i])];
  return result;
}

/// Partitions the mesh and returns this rank's cells: one batch of tetrahedra, then one batch for each of
/// `lower_kinds`. Collective.
std::vector<CellBatch> find_batches(MPI_Comm comm, const MeshData& data) {
  CellParts parts = partition_cells(comm, data);
  std::vector<CellBatch> batches(1 + lower_kinds.size());
  batches[0].file_index = std::move(parts.cells);
  batches[0].width = static_cast<std::size_t>(data.nodes_per_cell());
  batches[0].corners = 4;
  for (const CellKind kind : lower_kinds) {
    CellBatch& batch = batches[index_of(kind) + 1];
    batch.file_index = std::move(parts.lower_cells[index_of(kind)]);
    batch.width = batch.corners = static_cast<std::size_t>(corners_of(kind));
    if (data.lower(kind).num_directors > 0) ++batch.width;
  }
  return batches;
}

/// Returns the nodes of the segments or points of a block: for each cell its corners, then its director. If a cell has
/// no director, its first corner is repeated instead.
std::vector<std::int64_t> with_directors(const MeshData::LowerCells& cells, std::size_t corners) {
  std::vector<std::int64_t> nodes;
  for (std::size_t c = 0; c < cells.directors.size(); ++c) {
    const auto first = cells.nodes.begin() + static_cast<std::ptrdiff_t>(corners * c);
    nodes.insert(nodes.end(), first, first + static_cast<std::ptrdiff_t>(corners));
    nodes.push_back(cells.directors[c] < 0 ? *first : cells.directors[c]);
  }
  return nodes;
}

/// Returns the file numbers of the nodes of all batches' cells, one batch after the other. Frees `data.cells`.
/// Collective.
std::vector<std::int64_t> take_nodes(MPI_Comm comm, MeshData& data, std::vector<CellBatch>& batches) {
  const auto taken = [&](const CellBatch& batch, std::int64_t num, const std::vector<std::int64_t>& block) {
    const int size = static_cast<int>(block.size() / batch.width);
    return FileOrder(comm, num, batch.file_index, static_cast<int>(batch.file_index.size()), size)
        .from_file(block, static_cast<int>(batch.width));
  };
  std::vector<std::int64_t> nodes = taken(batches[0], data.num_cells, data.cells);
  free_elements(data.cells);  // freed early, so that set-up needs no more memory than time stepping
  for (const CellKind kind : lower_kinds) {
    CellBatch& batch = batches[index_of(kind) + 1];
    batch.begin = nodes.size();
    if (data.lower(kind).num == 0) continue;
    const MeshData::LowerCells& cells = data.lower(kind);
    const std::vector<std::int64_t> added =
        taken(batch, cells.num, cells.num_directors > 0 ? with_directors(cells, batch.corners) : cells.nodes);
    nodes.insert(nodes.end(), added.begin(), added.end());
  }
  return nodes;
}

/// Kinds of cells whose forces can depend on the vertices of neighbouring cells, that is, cells that share a side with
/// the cell.
constexpr std::array kinds_with_sides = {CellKind::segment, CellKind::triangle};

/// Corners of the cells of `batch`: [cells, corners], file numbers. `nodes`: see take_nodes().
std::vector<std::int64_t> corners_of_batch(const CellBatch& batch, const std::vector<std::int64_t>& nodes) {
  std::vector<std::int64_t> corners;
  for (std::size_t c = 0; c < batch.file_index.size(); ++c)
    for (std::size_t a = 0; a < batch.corners; ++a) corners.push_back(nodes[batch.begin + batch.width * c + a]);
  return corners;
}

/// File number of the director of each segment of `batch`, or -1 for a segment without a director: [segments]. `nodes`:
/// see take_nodes().
std::vector<std::int64_t> directors_of_batch(const CellBatch& batch, const std::vector<std::int64_t>& nodes) {
  std::vector<std::int64_t> directors;
  for (std::size_t c = 0; c < batch.file_index.size(); ++c) {
    const std::int64_t* const node = &nodes[batch.begin + batch.width * c];
    directors.push_back(node[batch.corners] == node[0] ? no_vertex_across : node[batch.corners]);
  }
  return directors;
}

/// Vertices across the sides of this rank's segments and triangles, as file numbers. Each list has the shape and the
/// special values of the list with the same name in LowerCellSet. The cells are in the order of CellBatch::file_index.
struct SideVertices {
  std::array<std::vector<std::int64_t>, lower_kinds.size()> across;
  std::vector<std::int64_t> beyond, directors, directors_across;
  /// Vertices of `across`, `beyond` and `directors_across`, without the special values.
  std::vector<std::int64_t> others;

  /// Finds the vertices across all sides. `nodes`: see take_nodes(). Collective.
  SideVertices(MPI_Comm comm, const MeshData& data, const std::vector<CellBatch>& batches,
               const std::vector<std::int64_t>& nodes) {
    for (const CellKind kind : kinds_with_sides) {
      if (data.lower(kind).num == 0) continue;
      const std::vector<std::int64_t> corners = corners_of_batch(batches[index_of(kind) + 1], nodes);
      std::vector<std::int64_t>& of_kind = across[index_of(kind)];
      of_kind = vertices_across(comm, corners, corners_of(kind), data.num_vertices);
      need(of_kind);
      if (kind == CellKind::triangle) beyond = vertices_beyond(comm, corners, of_kind, data.num_vertices);
      if (data.lower(kind).num_directors == 0) continue;
      directors = directors_of_batch(batches[index_of(kind) + 1], nodes);
      directors_across = numbers_across(comm, corners, corners_of(kind), directors, data.num_vertices);
    }
    need(beyond);
    need(directors_across);
  }

 private:
  void need(const std::vector<std::int64_t>& vertices) {
    std::copy_if(vertices.begin(), vertices.end(), std::back_inserter(others), [](std::int64_t v) { return v >= 0; });
  }
};

/// Returns a flag for each node, non-zero if several ranks have the node. `order`: file order of the nodes. Collective.
std::vector<char> shared_nodes(MPI_Comm comm, const LocalNodes& nodes, const FileOrder& order) {
  // A node is shared if the node is a ghost on some rank. Each rank sends a mark for each of its ghosts to the block of
  // the file that contains the ghost. Then each rank reads the marks of all its nodes.
  std::vector<std::int64_t> ghosts;
  for (std::size_t v = 0; v < nodes.file_index.size(); ++v)
    if (nodes.is_ghost[v]) ghosts.push_back(nodes.file_index[v]);
  std::vector<char> marks(static_cast<std::size_t>(order.block_size()), 0);
  FileOrder(comm, order.num_global(), ghosts, static_cast<int>(ghosts.size()), static_cast<int>(marks.size()))
      .to_file(std::vector<char>(ghosts.size(), 1), 1, marks);
  return order.from_file(marks, 1);
}

/// Sets the order of each batch's cells. Returns the positions of the nodes, [nodes, 3] in m. `block_vertices`: number
/// of vertices in this rank's block of the file. Collective.
std::vector<double> order_batches(MPI_Comm comm, const MeshData& data, int block_vertices, const LocalNodes& nodes,
                                  std::vector<CellBatch>& batches) {
  const FileOrder node_order(comm, data.num_vertices, nodes.file_index, 0, block_vertices);
  std::vector<double> positions = node_order.from_file(data.coordinates, 3);
  const std::vector<char> is_shared = shared_nodes(comm, nodes, node_order);
  for (CellBatch& batch : batches) order_cells(batch, nodes, positions, is_shared);
  return positions;
}

/// Local numbers of the nodes. The object stores a reference to `all_nodes`, which must outlive the object.
struct LocalNumbering {
  const LocalNodes& nodes;
  int num_owned = 0;
  std::vector<int> number_of_node;  ///< [nodes]
  std::vector<int> node_of_vertex;  ///< index in `nodes` of each local vertex

  LocalNumbering(const std::vector<CellBatch>& batches, const LocalNodes& all_nodes)
      : nodes(all_nodes),
        number_of_node(number_nodes(batches, nodes, num_owned)),
        node_of_vertex(nodes.file_index.size()) {
    for (std::size_t v = 0; v < node_of_vertex.size(); ++v)
      node_of_vertex[static_cast<std::size_t>(number_of_node[v])] = static_cast<int>(v);
  }
  /// Appends the first `count` nodes of each cell of a batch to `vertices`.
  void add_vertices(const CellBatch& batch, std::size_t count, std::vector<int>& vertices) const {
    for (const int cell : batch.order)
      for (const int node : batch.nodes(nodes, cell).first(count))
        vertices.push_back(number_of_node[static_cast<std::size_t>(node)]);
  }
  /// Appends the vertices listed in `of_cells` to `vertices`, as local vertices, in the order of a batch's cells.
  /// `of_cells` [cells, of_cell]: file numbers of vertices, or negative special values, which are appended unchanged.
  void add_others(const CellBatch& batch, const std::vector<std::int64_t>& of_cells, std::size_t of_cell,
                  std::vector<int>& vertices) const {
    for (const int cell : batch.order)
      for (std::size_t i = 0; i < of_cell; ++i) {
        const std::int64_t vertex = of_cells[of_cell * static_cast<std::size_t>(cell) + i];
        vertices.push_back(vertex < 0 ? static_cast<int>(vertex)
                                      : number_of_node[static_cast<std::size_t>(nodes.place(vertex))]);
      }
  }
  /// Returns the positions of the local vertices, [vertices, 3]. `of_nodes` [nodes, 3]: positions of the nodes.
  std::vector<double> positions_of_vertices(const std::vector<double>& of_nodes) const {
    std::vector<double> positions(3 * node_of_vertex.size());
    for (std::size_t v = 0; v < node_of_vertex.size(); ++v)
      for (std::size_t c = 0; c < 3; ++c)
        positions[3 * v + c] = of_nodes[3 * static_cast<std::size_t>(node_of_vertex[v]) + c];
    return positions;
  }
};

/// Sets the vertices of triangles, segments and points, the vertices across the sides of triangles and segments, and
/// the directors of segments.
void set_lower_vertices(const std::vector<CellBatch>& batches, const LocalNumbering& numbering,
                        const SideVertices& sides, bool has_directors,
                        std::array<LowerCellSet, lower_kinds.size()>& sets) {
  for (std::size_t k = 0; k < sets.size(); ++k)
    numbering.add_vertices(batches[k + 1], batches[k + 1].corners, sets[k].vertices);
  for (const CellKind kind : kinds_with_sides) {
    const CellBatch& batch = batches[index_of(kind) + 1];
    LowerCellSet& set = sets[index_of(kind)];
    numbering.add_others(batch, sides.across[index_of(kind)], batch.corners, set.across);
    if (kind == CellKind::triangle) numbering.add_others(batch, sides.beyond, 2 * batch.corners, set.beyond);
    if (kind != CellKind::segment || !has_directors) continue;
    numbering.add_others(batch, sides.directors, 1, set.directors);
    numbering.add_others(batch, sides.directors_across, batch.corners, set.directors_across);
  }
}

/// Sets the file order and the entities of triangles, segments and points. Collective.
void set_lower_entities(MPI_Comm comm, const MeshData& data, const std::vector<CellBatch>& batches,
                        std::array<LowerCellSet, lower_kinds.size()>& sets) {
  for (const CellKind kind : lower_kinds) {
    LowerCellSet& set = sets[index_of(kind)];
    const CellBatch& batch = batches[index_of(kind) + 1];
    set.order = std::make_shared<FileOrder>(comm, data.lower(kind).num, permuted(batch.file_index, batch.order),
                                            static_cast<int>(batch.order.size()));
    set.entities = std::make_shared<const Entities>(name_of(kind), comm, batch.order.size(), set.order);
  }
}

/// Returns the quadrature degree for cells of the given order: `given` if set, else the default. Throws InputError for
/// a degree that is not available.
int degree_for(int order, const std::optional<int>& given) {
  if (order == 1 && given)
    throw InputError(
        "quadrature_degree requires second-order cells, because linear cells have one quadrature point; use order 2 or "
        "remove quadrature_degree");
  if (given && *given != FourPoints::degree && *given != FourteenPoints::degree)
    throw InputError("quadrature_degree " + std::to_string(*given) + " is not known; use 2 or 5");
  return given.value_or(order);
}

/// Returns the bodies of the mesh. If the mesh is a single affine body, the list has this body with the name
/// `unnamed_body`.
std::vector<MeshBody> bodies_of(const MeshData& data) {
  if (!data.bodies.empty() || !data.affine) return data.bodies;
  MeshBody body;
  body.name = unnamed_body;
  body.kind = data.kind();
  body.affine = data.affine;
  body.work = data.work;
  return {body};
}

}  // namespace

std::shared_ptr<TetrahedralMesh> TetrahedralMesh::box(MPI_Comm comm, std::array<double, 3> size,
                                                      std::array<int, 3> cells, int order,
                                                      std::optional<int> quadrature_degree) {
  if (order != 1 && order != 2) throw InputError("box: order " + std::to_string(order) + " is not known; use 1 or 2");
  degree_for(order, quadrature_degree);
  MeshData data = box_mesh(comm, size, cells);
  if (order == 2) elevate(comm, data);
  return std::make_shared<TetrahedralMesh>(comm, std::move(data), quadrature_degree);
}

std::shared_ptr<TetrahedralMesh> TetrahedralMesh::create_cube(MPI_Comm comm, int resolution, double size) {
  return box(comm, {size, size, size}, {resolution, resolution, resolution});
}

TetrahedralMesh::TetrahedralMesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                                 const std::vector<std::array<int, 4>>& tets)
    : TetrahedralMesh(comm, solid_mesh(comm, vertices, tets)) {}

TetrahedralMesh::TetrahedralMesh(MPI_Comm comm, MeshData data, std::optional<int> quadrature_degree)
    : comm_(comm),
      order_(data.order),
      quadrature_degree_(degree_for(data.order, quadrature_degree)),
      num_unused_(data.num_unused_vertices),
      num_directors_(data.lower(CellKind::segment).num_directors + data.lower(CellKind::point).num_directors),
      bodies_(bodies_of(data)),
      infos_(data.regions) {
  const ProfilingRegion region("diffsim::mesh::build");
  number(data);
  release_free_memory();
}

TetrahedralMesh::~TetrahedralMesh() = default;

int TetrahedralMesh::num_owned_vertices() const { return vertex_exchange_->num_owned(); }

int TetrahedralMesh::shared_vertices_end() const { return vertex_exchange_->shared_end(); }

std::int64_t TetrahedralMesh::num_global_cells() const { return cell_order_->num_global(); }

std::int64_t TetrahedralMesh::num_global_vertices() const { return vertex_order_->num_global(); }

void TetrahedralMesh::number(MeshData& data) {
  const auto block_vertices = static_cast<int>(data.block_vertices());
  const auto block_cells = static_cast<int>(data.block_cells());
  const auto width = static_cast<std::size_t>(nodes_per_cell());
  std::vector<CellBatch> batches = find_batches(comm_, data);
  release_free_memory();  // one rank may have gathered all cells for the partitioner
  num_cells_ = static_cast<int>(batches[0].file_index.size());
  const auto num_cells = static_cast<std::size_t>(num_cells_);
  std::vector<std::int64_t> nodes_of_cells = take_nodes(comm_, data, batches);
  const SideVertices sides(comm_, data, batches, nodes_of_cells);
  LocalNodes nodes = local_nodes(comm_, nodes_of_cells, sides.others, data.num_vertices);
  free_elements(nodes_of_cells);
  std::vector<double> node_positions = order_batches(comm_, data, block_vertices, nodes, batches);
  num_shared_cells_ = static_cast<int>(batches[0].num_shared);
  const LocalNumbering numbering(batches, nodes);

  reserve_in_huge_pages(cells_, width * static_cast<std::size_t>(CellScatter::num_padded(num_cells_)));
  numbering.add_vertices(batches[0], width, cells_);
  cells_.resize(width * static_cast<std::size_t>(CellScatter::num_padded(num_cells_)));
  CellScatter::fill_up(cells_, num_cells_, nodes_per_cell());
  set_lower_vertices(batches, numbering, sides, data.lower(CellKind::segment).num_directors > 0, lower_);
  free_elements(nodes.cells);
  positions_ = numbering.positions_of_vertices(node_positions);
  free_elements(node_positions);
  scatter_ = std::make_unique<CellScatter>(cells_, num_cells_, num_shared_cells_, nodes_per_cell(), num_vertices());

  const std::vector<std::int64_t> cell_file_index = permuted(batches[0].file_index, batches[0].order);
  set_lower_entities(comm_, data, batches, lower_);
  free_elements(batches);
  const std::vector<std::int64_t> vertex_file_index = permuted(nodes.file_index, numbering.node_of_vertex);
  const int num_owned = numbering.num_owned;
  const auto order_of_cells = std::make_shared<FileOrder>(comm_, data.num_cells, cell_file_index, num_cells_);
  order_of_cells->keep_no_graphs();
  cell_order_ = order_of_cells;
  vertex_order_ = std::make_shared<const FileOrder>(comm_, data.num_vertices, vertex_file_index, num_owned);
  find_directors();
  std::vector<PetscInt> owner, index;
  ghost_owners(comm_, *vertex_order_, num_owned, owner, index);
  vertex_exchange_ = std::make_shared<const Exchange>(comm_, num_owned, owner, index);

  const FileOrder cell_blocks(comm_, data.num_cells, cell_file_index, num_cells_, block_cells);
  const FileOrder vertex_blocks(comm_, data.num_vertices, vertex_file_index, num_owned, block_vertices);
  read_groups(data, cell_blocks, vertex_blocks);
  find_unused(data.coordinates, block_vertices);
  // Replace `vertex_order_` by a new object to free the communication graphs and buffers used above. Reading or writing
  // a file builds these graphs again, but a run without input and output does not need the graphs.
  vertex_order_ = std::make_shared<const FileOrder>(comm_, data.num_vertices, vertex_file_index, num_owned);
  const auto owned = static_cast<std::size_t>(num_owned);
  vertices_ = std::make_shared<const Entities>("vertices", comm_, owned, vertex_order_, vertex_exchange_);
  owned_vertices_ = Entities::without_copies(vertices_);
  cell_entities_ = std::make_shared<const Entities>("cells", comm_, num_cells, cell_order_);
}

std::int64_t TetrahedralMesh::num_global(CellKind kind) const {
  return kind == CellKind::tetrahedron ? num_global_cells() : lower_[index_of(kind)].order->num_global();
}

void TetrahedralMesh::find_directors() {
  if (num_directors_ == 0) return;
  is_director_.assign(static_cast<std::size_t>(num_vertices()), 0);
  for (std::size_t v = 0; v < is_director_.size(); ++v) {
    const std::int64_t number = vertex_order_->file_index()[v];
    const auto body = static_cast<std::size_t>(body_of_vertex(bodies_, number));
    is_director_[v] = number >= first_director(bodies_, body, num_global_vertices()) ? 1 : 0;
  }
}

/// Stores in `unused_` the indices and positions of those vertices in this rank's block of `vertex_order_` that belong
/// to no cell.
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
