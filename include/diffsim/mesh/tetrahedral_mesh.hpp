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

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/mesh_data.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

class CellScatter;
class Exchange;
class FileOrder;
struct LocalNodes;

/// Volume and quality of all tetrahedra of a mesh, and edge lengths of its tetrahedra, triangles and segments. All
/// members of MeshQuality except `volume` are computed for straight-edged cells, from the positions of the corners.
struct MeshQuality {
  /// Sum of the volumes of all tetrahedra (m³). A second-order cell contributes the volume of the curved cell, and the
  /// cell of an affine body contributes the volume of the body.
  double volume = 0.0;
  double min_edge = 0.0;  ///< m
  double max_edge = 0.0;  ///< m
  /// Minimum over all tetrahedra of the mean ratio 12 (3V)^⅔ / Σ l², where V is the volume and l are the edge lengths
  /// of a tetrahedron (Liu & Joe 1994). The mean ratio of a regular tetrahedron is 1.
  double min_mean_ratio = 0.0;
  double average_mean_ratio = 0.0;  ///< mean over all tetrahedra
};

inline constexpr int no_vertex_across = -1,  ///< value in `LowerCellSet::across` at a side of only one cell
    many_vertices_across = -2;  ///< value in `LowerCellSet::across` at a side that three or more cells share

/// This rank's cells of one kind: triangles, segments or points. Vertex numbers in a LowerCellSet are local numbers.
struct LowerCellSet {
  std::vector<int> vertices;  ///< [cells, corners]
  /// Array [cells, corners] with the opposite vertex of the neighbouring cell across each side of each triangle or
  /// segment. Side i of a cell is opposite to corner i; the sides of a segment are the ends of the segment. If exactly
  /// one other cell has side i of a cell, value i of the cell is the vertex of the other cell that is not on side i.
  /// The value is `no_vertex_across` if no other cell has side i, and `many_vertices_across` if several other cells
  /// have side i.
  std::vector<int> across;
  /// Array [cells, 3, 2] with the vertices across the other two sides of the neighbour at each side of each triangle.
  /// If side i of a triangle C has exactly one neighbour T, entries (i, 0) and (i, 1) of C in `beyond` are the vertices
  /// across the other two sides of T: the side with corner i + 1 of C, and the side with corner i + 2 of C (modulo 3).
  /// Each entry is a vertex number, `no_vertex_across` or `many_vertices_across`. Both entries are `no_vertex_across`
  /// if side i does not have exactly one neighbour.
  std::vector<int> beyond;
  /// Array [cells] with the local vertex number of each segment's director, or -1 for a segment without a director. A
  /// director is a vector, stored as a vertex, that defines the orientation of a segment's cross-section. The array
  /// `directors` is empty if no segment of the mesh has a director.
  std::vector<int> directors;
  /// Array [cells, 2] with the local vertex numbers of the directors of neighbouring segments: value i of a segment
  /// belongs to the neighbour across side i (see `across`). The value is negative if the segment has no unique
  /// neighbour across side i, or if the neighbour has no director. The array `directors_across` is empty if no segment
  /// of the mesh has a director.
  std::vector<int> directors_across;
  std::shared_ptr<const FileOrder> order;  ///< map from local to mesh-file cell numbers
  /// Set of this rank's cells, named name_of(kind), on which fields can have values. Each cell is on exactly one rank.
  std::shared_ptr<const Entities> entities;

  int num() const { return static_cast<int>(entities->local()); }  ///< number of this rank's cells
};

/// Mesh distributed over the ranks of a communicator: linear or second-order tetrahedra and, in addition, the
/// triangles, segments and points of thin bodies. In the comments of TetrahedralMesh, "cells" are tetrahedra if no kind
/// of cell is stated.
///
/// "Vertices" of a mesh are all nodes, including the mid-edge nodes of a second-order mesh; mesh/impl/element.hpp
/// defines the node numbering of a cell. Each cell is on exactly one rank. Each vertex is owned by one rank and copied
/// ("ghost") to the other ranks that need the vertex. A rank needs the vertices of its own cells, the vertices in
/// LowerCellSet::across and LowerCellSet::beyond of its segments and triangles, and the directors in
/// LowerCellSet::directors_across of its segments.
///
/// In the local numbering of cells, shared cells, which have a vertex that is also on another rank, come before all
/// other cells. The shared cells are sorted along a Hilbert curve, and so are the other cells. In the local numbering
/// of vertices, owned vertices come before ghosts. Owned vertices are in the order in which the rank's cells first
/// refer to the vertices; ghosts are in the order of the mesh file. The FileOrder objects `vertex_order` and
/// `cell_order` map local numbers to numbers in the mesh file.
///
/// Some vertices may be directors: the coordinates of a director are a vector, not a position. A director defines the
/// orientation of the cross-section of a segment (src/mesh/directors.hpp), or describes the rotor of a joint
/// (`rotor_mesh`). No region contains a director.
class TetrahedralMesh {
 public:
  /// Creates the mesh of the box [0, size] (m) with cells[0]·cells[1]·cells[2] bricks of six tetrahedra each. The sides
  /// of the box are the regions x_min, x_max, y_min, y_max, z_min and z_max. `order`: order of the cells, 1 or 2.
  /// `quadrature_degree`: passed to the constructor that takes a MeshData. Collective.
  static std::shared_ptr<TetrahedralMesh> box(MPI_Comm comm, std::array<double, 3> size, std::array<int, 3> cells,
                                              int order = 1, std::optional<int> quadrature_degree = {});
  /// Creates the mesh of the cube [0, size]³ (m) with `resolution`³ bricks of six tetrahedra each. Collective.
  static std::shared_ptr<TetrahedralMesh> create_cube(MPI_Comm comm, int resolution = 10, double size = 1.0);
  /// Reads a mesh file with the default arguments of read_mesh() (io/read_mesh.hpp). `scale`: factor that converts the
  /// coordinates in the file to metres. Collective.
  static std::shared_ptr<TetrahedralMesh> from_file(MPI_Comm comm, const std::string& path, double scale = 1.0);
  /// Creates a mesh of linear tetrahedra from positions of vertices (m) and the vertex numbers of each tetrahedron. The
  /// arrays `vertices` and `tets` are read on the first rank only. Throws Error of kind `input` if the mesh is not
  /// valid, for example if a cell is inverted. Collective.
  TetrahedralMesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                  const std::vector<std::array<int, 4>>& tets);
  /// Creates the mesh from `data`, this rank's block of the mesh in file order, and distributes the cells and vertices
  /// over the ranks. To save memory, pass `data` with std::move.
  ///
  /// The argument `quadrature_degree`, allowed only for second-order cells, is 2 (default) or 5; see
  /// mesh/impl/quadrature.hpp. Throws InputError if the value of `quadrature_degree` is not allowed. Collective.
  TetrahedralMesh(MPI_Comm comm, MeshData data, std::optional<int> quadrature_degree = {});
  ~TetrahedralMesh();
  TetrahedralMesh(const TetrahedralMesh&) = delete;
  TetrahedralMesh& operator=(const TetrahedralMesh&) = delete;

  MPI_Comm comm() const { return comm_; }  ///< communicator over whose ranks the mesh is distributed
  int order() const { return order_; }     ///< 1 or 2
  int nodes_per_cell() const { return nodes_of_order(order_); }  ///< 4 or 10
  /// Highest degree of the polynomials that the quadrature rule integrates exactly over cells: 1 for linear cells, 2 or
  /// 5 for second-order cells.
  int quadrature_degree() const { return quadrature_degree_; }
  int num_cells() const { return num_cells_; }  ///< number of this rank's cells
  /// Number of shared cells, which have a vertex that another rank also has. Shared cells have the lowest local numbers
  /// of all cells.
  int num_shared_cells() const { return num_shared_cells_; }
  int num_vertices() const { return static_cast<int>(positions_.size() / 3); }  ///< number of vertices, with ghosts
  int num_owned_vertices() const;  ///< number of vertices that this rank owns
  /// Returns 1 + the largest local number of an owned vertex of which another rank has a copy, or 0 if there is no such
  /// vertex.
  int shared_vertices_end() const;
  std::int64_t num_global_cells() const;  ///< number of cells of the whole mesh
  /// Number of vertices of the whole mesh, including vertices that belong to no cell.
  std::int64_t num_global_vertices() const;
  /// Number of vertices of the whole mesh that belong to no cell.
  std::int64_t num_unused_vertices() const { return num_unused_; }
  /// Number of directors in the whole mesh. Directors are vectors, stored as vertices, that define the orientations of
  /// the cross-sections of segments, or describe the rotors of joints (`rotor_mesh`).
  std::int64_t num_global_directors() const { return num_directors_; }
  /// Flags of local vertices: non-zero if a vertex stores a director (vector), not a position; empty without directors.
  const std::vector<char>& is_director() const { return is_director_; }

  /// Local vertex numbers of the cells, [num_cells, nodes_per_cell]: the corners of each cell in positive orientation,
  /// followed by the mid-edge nodes.
  std::span<const int> cells() const {
    return {cells_.data(), static_cast<std::size_t>(nodes_per_cell()) * static_cast<std::size_t>(num_cells_)};
  }
  /// This rank's cells of the kind `kind`, which must be a kind of lower dimension than tetrahedra (`lower_kinds`).
  const LowerCellSet& lower_cells(CellKind kind) const { return lower_[index_of(kind)]; }
  /// Number of cells of the kind `kind`, which may be any CellKind, in the whole mesh.
  std::int64_t num_global(CellKind kind) const;
  /// Set of this rank's cells of the kind `kind`, any CellKind, on which fields can have values, with the cells'
  /// locations in the mesh file.
  const std::shared_ptr<const Entities>& cell_entities(CellKind kind) const {
    return kind == CellKind::tetrahedron ? cell_entities_ : lower_cells(kind).entities;
  }
  /// Map from this rank's cells of the kind `kind`, any CellKind, to their locations in the mesh file.
  const FileOrder& cell_order(CellKind kind) const {
    return kind == CellKind::tetrahedron ? *cell_order_ : *lower_cells(kind).order;
  }
  /// Gather and scatter pattern between cells and vertices for loops over all cells.
  const CellScatter& scatter() const { return *scatter_; }
  const std::vector<double>& rest_positions() const { return positions_; }  ///< [num_vertices, 3], m
  /// Rest positions of this rank's block of vertices in file order, including vertices that belong to no cell:
  /// [block_size, 3] in m. Collective.
  std::vector<double> file_positions() const;
  /// Set of this rank's vertices, ghosts included, on which fields can have values.
  const std::shared_ptr<const Entities>& vertex_entities() const { return vertices_; }
  /// Set of the vertices that this rank owns, without ghosts, on which fields can have values.
  const std::shared_ptr<const Entities>& owned_vertex_entities() const { return owned_vertices_; }
  /// Set of this rank's tetrahedra, on which fields can have values.
  const std::shared_ptr<const Entities>& cell_entities() const { return cell_entities_; }
  const Exchange& vertex_exchange() const { return *vertex_exchange_; }  ///< exchange between owned vertices and ghosts
  const FileOrder& vertex_order() const { return *vertex_order_; }       ///< map from local to mesh-file vertex numbers
  const FileOrder& cell_order() const { return *cell_order_; }  ///< map from local to mesh-file numbers of tetrahedra

  /// Bodies of the mesh, in the order of their vertex numbers in the file. A single body without a name is in the list
  /// with the name `body` if the body is affine or has directors; for any other single body without a name, the list is
  /// empty.
  const std::vector<MeshBody>& bodies() const { return bodies_; }
  /// Index in `bodies()` of the body called `name`. If no body is called `name`, throws Error of kind `input`; the
  /// message suggests the most similar name, if any name is similar, and lists the names of all bodies.
  std::size_t find_body(const std::string& name) const;
  /// Descriptions of the named groups of the mesh file, or of the sides of a box.
  const std::vector<RegionInfo>& region_infos() const { return infos_; }
  /// Defines the region `name`, which consists of the vertices in the shape `shape` and of the cells whose vertices are
  /// all in `shape`. If the name `body` is not empty, the region contains only vertices of the body called `body`, and
  /// the vertex numbers of a VertexList `shape` are relative to the body's first vertex. Throws Error of kind `input`
  /// if a region called `name` already exists, if a listed vertex does not exist or is a director, or if the region has
  /// no vertex. Collective.
  void define_region(const std::string& name, const RegionShape& shape, const std::string& body = {});
  /// Returns the region called `name`. The argument `name` is `all`, BODY/all, the name of a region that
  /// define_region() has defined, or the name of one or several groups of the mesh. Groups of the mesh with the same
  /// name, of any dimension, form one region. If no group is called `name`, `name` is interpreted as a tag (BODY/TAG in
  /// a mesh of several bodies), and the groups with this tag form the region `name`. For an unknown `name`, throws
  /// Error of kind `input`; the message suggests the most similar name and lists the names of all regions. Collective.
  const Region& region(const std::string& name) const;
  /// Returns this rank's faces of a region; each face is on only one rank. If the mesh file has groups of faces called
  /// `name`, the returned faces are the faces of these groups. If the groups called `name` have no faces, the returned
  /// faces are the boundary faces of the groups' cells. If no group is called `name`, the returned faces are the
  /// boundary faces whose vertices are all in the region `name`. Collective.
  std::vector<Face> faces(const std::string& name) const;
  bool has_region(const std::string& name) const;  ///< true if the mesh has a region called `name`
  std::vector<std::string> region_names() const;   ///< names of all regions, beginning with `all`
  /// This rank's boundary faces: faces that belong to only one cell of the whole mesh. The first call of `boundary` is
  /// collective.
  const std::vector<Face>& boundary() const;

  /// Affine body that the tetrahedron with the local number `cell` represents, or nullptr if the tetrahedron represents
  /// no affine body.
  const AffineBody* affine_body(int cell) const;
  /// Ratio (volume that a tetrahedron represents) / (volume of the tetrahedron) for each tetrahedron in `cells` or, if
  /// `cells` is empty, for all of this rank's tetrahedra. The ratio is AffineBody::volume_factor if the tetrahedron
  /// represents an affine body, else 1. The returned list is empty if the mesh has no affine bodies.
  std::vector<double> volume_factors(const std::vector<int>& cells = {}) const;

  MeshQuality quality() const;  ///< volume, quality and edge lengths of the whole mesh; collective
  /// Hash of the cells of all kinds, in file order, and of the coordinates of their nodes. The hash does not include
  /// the directors of segments, and does not depend on the number of ranks. Collective.
  std::uint64_t fingerprint() const;

 private:
  /// Returns flags of the local vertices: non-zero for each vertex of the body with the index `body`, except the
  /// additional vertices that store directors (src/mesh/directors.hpp).
  std::vector<char> vertices_of_body(std::size_t body) const;
  void find_directors();
  /// Adds to `region`, in ascending order, the cells of all kinds whose vertices are all marked in `marks`.
  void add_cells_within(const std::vector<char>& marks, Region& region) const;
  /// Returns the indices in `infos_` of the groups called `name`. If no group is called `name`, returns the indices of
  /// the groups whose tag, written as a decimal number (BODY/TAG in a mesh of several bodies), equals `name`.
  std::vector<std::size_t> groups(const std::string& name) const;
  void number(MeshData& data);
  void read_groups(const MeshData& data, const FileOrder& cell_blocks, const FileOrder& vertex_blocks);
  void read_lower_groups(const MeshData& data, CellKind kind, std::vector<std::vector<char>>& marks);
  void find_unused(const std::vector<double>& coordinates, int block_vertices);
  Face face(int cell, int opposite) const;
  /// Sets the vertices of a region, and the numbers of vertices and cells of the region over all ranks. `marks`: flags
  /// of the local vertices, [num_vertices]; a vertex is in the region if any rank marks the vertex. Collective.
  void finish(Region& region, std::vector<char> marks) const;

  MPI_Comm comm_;
  int order_ = 1;
  int quadrature_degree_ = 1;
  int num_cells_ = 0;
  int num_shared_cells_ = 0;
  std::array<LowerCellSet, 3> lower_;
  std::vector<int> cells_;  // with copies of a cell that pad the last SIMD pack
  std::vector<double> positions_;
  std::vector<std::pair<std::int64_t, std::array<double, 3>>> unused_;  // (index in this rank's block, position in m)
  std::int64_t num_unused_ = 0;
  std::int64_t num_directors_ = 0;
  std::vector<char> is_director_;
  std::vector<MeshBody> bodies_;
  std::vector<RegionInfo> infos_;
  std::vector<Region> groups_;                  // one for each of infos_
  std::vector<std::vector<Face>> group_faces_;  // one for each of infos_
  mutable std::map<std::string, Region> regions_;
  mutable std::unique_ptr<std::vector<Face>> boundary_;
  std::shared_ptr<const Exchange> vertex_exchange_;
  std::shared_ptr<const FileOrder> vertex_order_;
  std::shared_ptr<const FileOrder> cell_order_;
  std::shared_ptr<const Entities> vertices_, owned_vertices_, cell_entities_;
  std::unique_ptr<CellScatter> scatter_;
};

/// Returns the 0-based number in the mesh file of each local vertex, [local vertices], owned vertices first.
std::vector<std::int64_t> vertex_numbers(const TetrahedralMesh& mesh);
/// Returns the 0-based number in the mesh file of each of this rank's tetrahedra, [cells].
std::vector<std::int64_t> cell_numbers(const TetrahedralMesh& mesh);

/// Adds the rigid velocity v + ω × (X - c) to `velocities` [owned vertices, 3] (m/s) at the corners of an affine body's
/// cell, where X is the rest position of a corner and c is the body's centre of mass, the mean of the rest positions of
/// the four corners. `v`: velocity v of the centre of mass (m/s); `w`: angular velocity ω (rad/s). Collective.
void add_rigid_velocity(const TetrahedralMesh& mesh, const std::string& body, const std::array<double, 3>& v,
                        const std::array<double, 3>& w, std::vector<double>& velocities);

}  // namespace diffsim
