// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/entities.hpp"
#include "diffsim/core/exchange.hpp"
#include "diffsim/core/file_order.hpp"
#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

class CellScatter;
struct LocalNodes;

/// How good the tetrahedra are, and how long edges are: theirs and segments; over all ranks. All but the volume is said
/// of the straight cells between the corners.
struct MeshQuality {
  double volume = 0.0;          ///< m³; of the curved cells where the mesh is second-order
  double min_edge = 0.0;        ///< m
  double max_edge = 0.0;        ///< m
  double min_mean_ratio = 0.0;  ///< 12 (3V)^⅔ / Σ l², 1 for a regular tetrahedron (Liu & Joe 1994)
  double average_mean_ratio = 0.0;
};

/// Values of `LowerCellSet::across` where no other cell has the side, and where two others or more have it.
inline constexpr int no_vertex_across = -1, many_vertices_across = -2;

/// This rank's cells of one kind below tetrahedra.
struct LowerCellSet {
  std::vector<int> vertices;  ///< [cells, corners], local
  /// Of triangles and segments: the vertex, local, that the other cell at the side opposite to each corner has beyond
  /// that side. Sides of a segment are its ends. [cells, corners]
  std::vector<int> across;
  /// Of triangles: the vertices, local, across the other two sides of the triangle beyond each side, that at corner
  /// i + 1 before that at corner i + 2 (modulo 3) of side i. [cells, 3, 2]; none where `across` is none.
  std::vector<int> beyond;
  /// Of segments in a mesh with directors: the vertex, local, that is the segment's director, or -1. [cells], or empty
  std::vector<int> directors;
  /// Of segments in a mesh with directors: the director of the segment whose vertex `across` has, or -1. [cells, 2], or
  /// empty
  std::vector<int> directors_across;
  std::shared_ptr<const FileOrder> order;
  std::shared_ptr<const Entities> entities;  ///< each cell is on one rank; named as `name_of` the kind

  int num() const { return static_cast<int>(entities->local()); }
};

/// A mesh spread over the ranks of a communicator: tetrahedra, linear or second-order, and beside these the triangles,
/// segments and points of bodies that are thin. "Cells" without a kind are tetrahedra.
///
/// "Vertices" are all nodes: of a second-order mesh those on edges too, whose numbering in a cell is that of
/// element.hpp. Each cell is on one rank; a vertex is owned by one rank and copied ("ghost") to the others that have a
/// cell at it, or a segment at an end of one of that rank's segments, or a triangle at a side of one of that rank's
/// triangles, or at a side of such a triangle. Inside a rank, the
/// cells with a vertex that another rank has too come first; among these and the others, cells follow a Hilbert curve,
/// and vertices the order in which cells first touch them, owned before ghosts. Positions and cells of files keep the
/// file's order: see `vertex_order`, `cell_order`.
///
/// Some vertices may be directors (directors.hpp), which are vectors and no places. No region has any of them.
class TetrahedralMesh {
 public:
  /// The box [0, size] of cells[0]·cells[1]·cells[2] bricks of six tetrahedra; regions x_min, x_max, … `order`: 1 or 2;
  /// `quadrature_degree` as below. Collective.
  static std::shared_ptr<TetrahedralMesh> box(MPI_Comm comm, std::array<double, 3> size, std::array<int, 3> cells,
                                              int order = 1, std::optional<int> quadrature_degree = {});
  /// Partitions `data`, whose blocks follow each other from rank to rank. What is moved here takes least memory.
  /// `quadrature_degree`, of second-order cells only: 2, the default, or 5; see quadrature.hpp. InputError for any
  /// other. Collective.
  TetrahedralMesh(MPI_Comm comm, MeshData data, std::optional<int> quadrature_degree = {});
  ~TetrahedralMesh();
  TetrahedralMesh(const TetrahedralMesh&) = delete;
  TetrahedralMesh& operator=(const TetrahedralMesh&) = delete;

  MPI_Comm comm() const { return comm_; }
  int order() const { return order_; }                           ///< 1 or 2
  int nodes_per_cell() const { return nodes_of_order(order_); }  ///< 4 or 10
  /// Integrals over cells are exact for polynomials of this degree: 1 for linear cells, 2 or 5 for second-order ones.
  int quadrature_degree() const { return quadrature_degree_; }
  int num_cells() const { return num_cells_; }
  /// How many have a vertex that another rank has too: the first ones.
  int num_shared_cells() const { return num_shared_cells_; }
  int num_vertices() const { return static_cast<int>(positions_.size() / 3); }  ///< of this rank, ghosts included
  int num_owned_vertices() const { return vertex_exchange_->num_owned(); }
  /// Owned vertices up to the last that another rank has too.
  int shared_vertices_end() const { return vertex_exchange_->shared_end(); }
  std::int64_t num_global_cells() const { return cell_order_->num_global(); }
  std::int64_t num_global_vertices() const { return vertex_order_->num_global(); }  ///< of the file, unused included
  std::int64_t num_unused_vertices() const { return num_unused_; }
  /// How many of all vertices are directors.
  std::int64_t num_global_directors() const { return num_directors_; }
  /// For each local vertex, whether it is a director; empty where the whole mesh has none.
  const std::vector<char>& is_director() const { return is_director_; }

  /// [num_cells, nodes_per_cell] local vertices; corners first, positively oriented, then the nodes on the edges.
  std::span<const int> cells() const {
    return {cells_.data(), static_cast<std::size_t>(nodes_per_cell()) * static_cast<std::size_t>(num_cells_)};
  }
  /// Cells of a kind below tetrahedra.
  const LowerCellSet& lower_cells(CellKind kind) const { return lower_[index_of(kind)]; }
  /// Cells of any kind, of the whole mesh.
  std::int64_t num_global(CellKind kind) const;
  /// This rank's cells of any kind, as entities, and their places in files.
  const std::shared_ptr<const Entities>& cell_entities(CellKind kind) const {
    return kind == CellKind::tetrahedron ? cell_entities_ : lower_cells(kind).entities;
  }
  const FileOrder& cell_order(CellKind kind) const {
    return kind == CellKind::tetrahedron ? *cell_order_ : *lower_cells(kind).order;
  }
  /// How sweeps over all cells read and add to vertices.
  const CellScatter& scatter() const { return *scatter_; }
  const std::vector<double>& rest_positions() const { return positions_; }  ///< [num_vertices, 3], m
  /// Rest positions of this rank's block of the file's vertices, unused ones included: [block_size, 3], m. Collective.
  std::vector<double> file_positions() const;
  /// All vertices of this rank, those owned alone, and the cells.
  const std::shared_ptr<const Entities>& vertex_entities() const { return vertices_; }
  const std::shared_ptr<const Entities>& owned_vertex_entities() const { return owned_vertices_; }
  const std::shared_ptr<const Entities>& cell_entities() const { return cell_entities_; }
  const Exchange& vertex_exchange() const { return *vertex_exchange_; }
  const FileOrder& vertex_order() const { return *vertex_order_; }
  const FileOrder& cell_order() const { return *cell_order_; }

  /// The bodies that the mesh was put together of, in the order of their numbers in the file; empty: one without a
  /// name.
  const std::vector<MeshBody>& bodies() const { return bodies_; }
  /// Index in `bodies()` of that name. Throws Error (input), naming the nearest, where there is none.
  std::size_t find_body(const std::string& name) const;
  /// The named physical groups (or box sides) of the mesh.
  const std::vector<RegionInfo>& region_infos() const { return infos_; }
  /// Defines a region by its vertices; InputError for a name that is taken or vertices that are not there. `body`:
  /// takes vertices of that body only, and a VertexList's numbers count in it; empty: of all. Collective.
  void define_region(const std::string& name, const RegionShape& shape, const std::string& body = {});
  /// By name: one defined here, `all`, BODY/all, or the mesh's groups of that name (else tag), of any dimension. Throws
  /// Error (input), naming the nearest and those there are. Collective.
  const Region& region(const std::string& name) const;
  /// The faces of a region, each on one rank only: those of its surface groups if it has any, else the mesh's boundary
  /// faces that its cells (a volume group) or vertices (a shape) have. Collective.
  std::vector<Face> faces(const std::string& name) const;
  bool has_region(const std::string& name) const;
  std::vector<std::string> region_names() const;
  /// Faces of one cell only, of the whole mesh: the surface. Collective on the first call.
  const std::vector<Face>& boundary() const;

  /// Affine body (affine_body.hpp) that a cell, local, stands for, or nullptr.
  const AffineBody* affine_body(int cell) const;
  /// Volume that each of `cells`, or of all cells where that is empty, stands for, over its own: not 1 for the cells of
  /// affine bodies. Empty where the mesh has no such bodies.
  std::vector<double> volume_factors(const std::vector<int>& cells = {}) const;

  MeshQuality quality() const;  ///< collective
  /// Equal for equal files (coordinates and cells), whatever the number of ranks. Collective.
  std::uint64_t fingerprint() const;

 private:
  /// For each local vertex, whether it is the body's and a place.
  std::vector<char> vertices_of_body(std::size_t body) const;
  void find_directors();
  /// Adds the cells of all kinds whose vertices are all marked, in ascending order.
  void add_cells_within(const std::vector<char>& marks, Region& region) const;
  /// The groups that a name or a tag stands for, as indices of `infos_`.
  std::vector<std::size_t> groups(const std::string& name) const;
  void number(MeshData& data);
  void read_groups(const MeshData& data, const FileOrder& cell_blocks, const FileOrder& vertex_blocks);
  void read_lower_groups(const MeshData& data, CellKind kind, std::vector<std::vector<char>>& marks);
  void find_unused(const std::vector<double>& coordinates, int block_vertices);
  Face face(int cell, int opposite) const;
  /// Completes a region whose vertex marks (any rank's) are in `marks` [num_vertices] and counts it. Collective.
  void finish(Region& region, std::vector<char> marks) const;

  MPI_Comm comm_;
  int order_ = 1;
  int quadrature_degree_ = 1;
  int num_cells_ = 0;
  int num_shared_cells_ = 0;
  std::array<LowerCellSet, 3> lower_;
  std::vector<int> cells_;  // with the copies that fill the last pack of a sweep
  std::vector<double> positions_;
  std::vector<std::pair<std::int64_t, std::array<double, 3>>> unused_;  // of this rank's block: its place there, m
  std::int64_t num_unused_ = 0;
  std::int64_t num_directors_ = 0;
  std::vector<char> is_director_;
  std::vector<MeshBody> bodies_;
  std::vector<RegionInfo> infos_;
  std::vector<Region> groups_;                  // parallel to infos_
  std::vector<std::vector<Face>> group_faces_;  // likewise
  mutable std::map<std::string, Region> regions_;
  mutable std::unique_ptr<std::vector<Face>> boundary_;
  std::shared_ptr<const Exchange> vertex_exchange_;
  std::shared_ptr<const FileOrder> vertex_order_;
  std::shared_ptr<const FileOrder> cell_order_;
  std::shared_ptr<const Entities> vertices_, owned_vertices_, cell_entities_;
  std::unique_ptr<CellScatter> scatter_;
};

}  // namespace diffsim
