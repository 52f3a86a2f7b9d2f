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

/// Quality of the tetrahedra, and edge lengths of tetrahedra, triangles and segments, over all ranks. All values except
/// `volume` refer to the straight-edged cells between the corners.
struct MeshQuality {
  /// Sum of the volumes of all tetrahedra (m³). Second-order cells count with their curved volume, and the cell of an
  /// affine body counts with the volume of the body.
  double volume = 0.0;
  double min_edge = 0.0;  ///< m
  double max_edge = 0.0;  ///< m
  /// Minimum of the mean ratio 12 (3V)^⅔ / Σ l² of a cell with the volume V and the edge lengths l (Liu & Joe 1994).
  /// The mean ratio of a regular tetrahedron is 1.
  double min_mean_ratio = 0.0;
  double average_mean_ratio = 0.0;  ///< mean over all tetrahedra
};

inline constexpr int no_vertex_across = -1,  ///< value in `LowerCellSet::across`: no other cell has the side
    many_vertices_across = -2;               ///< value in `across`: two or more other cells have the side

/// This rank's triangles, segments or points. All vertex numbers are local.
struct LowerCellSet {
  std::vector<int> vertices;  ///< [cells, corners]
  /// Vertices across the sides of triangles and segments: [cells, corners]. Side i is opposite to corner i; the sides
  /// of a segment are its ends. If one other cell has side i, value i of the cell is the vertex of the other cell that
  /// is not on side i. Otherwise the value is `no_vertex_across` or `many_vertices_across`.
  std::vector<int> across;
  /// Vertices across the sides of neighbouring triangles: [cells, 3, 2]. Let T be the triangle across side i of a cell.
  /// The two other sides of T meet side i at the cell's corners i + 1 and i + 2 (modulo 3). The first value of side i
  /// is the vertex across the side of T at corner i + 1, and the second value is the vertex across the side of T at
  /// corner i + 2. Each value may also be `no_vertex_across` or `many_vertices_across`. Both values are
  /// `no_vertex_across` if side i does not have exactly one neighbour T.
  std::vector<int> beyond;
  /// Local vertex number of each segment's director, or -1 for a segment without a director: [cells]. A director is a
  /// vector, stored as a vertex, that defines the orientation of the segment's cross-section. Empty if the mesh has no
  /// directors.
  std::vector<int> directors;
  /// Directors of the segments across both ends of each segment: [cells, 2]. Value i of a segment is the local vertex
  /// number of the director of the neighbouring segment whose vertex is value i in `across`, or a negative value if
  /// there is no unique neighbour or the neighbour has no director. Empty if the mesh has no directors.
  std::vector<int> directors_across;
  std::shared_ptr<const FileOrder> order;    ///< locations of the cells in files
  std::shared_ptr<const Entities> entities;  ///< entities of the cells, called name_of(kind); each cell is on one rank

  int num() const { return static_cast<int>(entities->local()); }  ///< number of this rank's cells
};

/// Mesh distributed over the ranks of a communicator: linear or second-order tetrahedra and, in addition, the
/// triangles, segments and points of thin bodies. In this class, "cells" are tetrahedra if the kind is not stated.
///
/// "Vertices" are all nodes, including the mid-edge nodes of a second-order mesh; element.hpp defines the node
/// numbering of a cell. Each cell is on exactly one rank. Each vertex is owned by one rank and copied ("ghost") to the
/// other ranks that need the vertex. A rank needs the vertices of its own cells; the vertices of segments that share an
/// end with its segments; the vertices of triangles that share a side with its triangles; and the vertices of triangles
/// that share a side with those neighbouring triangles.
///
/// Local numbering: the first cells are the shared cells, which have a vertex that is also on another rank. The other
/// cells follow. Each of the two groups of cells is sorted along a Hilbert curve. Owned vertices come before ghosts.
/// Owned vertices are in the order in which the cells first refer to the vertices; ghosts are in file order.
/// `vertex_order` and `cell_order` map local numbers to the order of the mesh file.
///
/// Some vertices may be directors, which are vectors, not positions. A director defines the orientation of the
/// cross-section of a segment (src/mesh/directors.hpp), or describes the rotor of a joint (`rotor_mesh`). No region
/// contains a director.
class TetrahedralMesh {
 public:
  /// Creates the mesh of the box [0, size] (m) with cells[0]·cells[1]·cells[2] bricks of six tetrahedra each. The sides
  /// of the box are the regions x_min, x_max, y_min, … `order` is 1 or 2; `quadrature_degree`: see the constructor.
  /// Collective.
  static std::shared_ptr<TetrahedralMesh> box(MPI_Comm comm, std::array<double, 3> size, std::array<int, 3> cells,
                                              int order = 1, std::optional<int> quadrature_degree = {});
  /// Creates the mesh of the cube [0, size]³ (m) with `resolution`³ bricks of six tetrahedra each. Collective.
  static std::shared_ptr<TetrahedralMesh> create_cube(MPI_Comm comm, int resolution = 10, double size = 1.0);
  /// Reads a mesh file with the default arguments of read_mesh() (io/read_mesh.hpp). `scale` converts coordinates to
  /// metres. Collective.
  static std::shared_ptr<TetrahedralMesh> from_file(MPI_Comm comm, const std::string& path, double scale = 1.0);
  /// Creates a mesh of linear tetrahedra from positions of vertices (m) and the vertex numbers of each tetrahedron.
  /// Only the first rank's arrays are used. Throws Error of kind `input` if the mesh is not valid, for example if a
  /// cell is inverted. Collective.
  TetrahedralMesh(MPI_Comm comm, const std::vector<std::array<double, 3>>& vertices,
                  const std::vector<std::array<int, 4>>& tets);
  /// Distributes the mesh `data`, whose blocks are contiguous from rank to rank. To save memory, pass `data` with
  /// std::move.
  ///
  /// `quadrature_degree`, allowed only for second-order cells, is 2 (default) or 5; see quadrature.hpp. Throws
  /// InputError for any other value. Collective.
  TetrahedralMesh(MPI_Comm comm, MeshData data, std::optional<int> quadrature_degree = {});
  ~TetrahedralMesh();
  TetrahedralMesh(const TetrahedralMesh&) = delete;
  TetrahedralMesh& operator=(const TetrahedralMesh&) = delete;

  MPI_Comm comm() const { return comm_; }  ///< communicator over whose ranks the mesh is distributed
  int order() const { return order_; }     ///< 1 or 2
  int nodes_per_cell() const { return nodes_of_order(order_); }  ///< 4 or 10
  /// Degree of the polynomials that are integrated exactly over cells: 1 for linear cells, 2 or 5 for second-order
  /// cells.
  int quadrature_degree() const { return quadrature_degree_; }
  int num_cells() const { return num_cells_; }  ///< number of this rank's cells
  /// Number of cells with a vertex that another rank also has. These cells have the lowest local numbers.
  int num_shared_cells() const { return num_shared_cells_; }
  int num_vertices() const { return static_cast<int>(positions_.size() / 3); }  ///< including ghosts
  int num_owned_vertices() const;  ///< number of vertices that this rank owns
  /// Returns 1 + the largest local number of an owned vertex of which another rank has a copy, or 0 if there is no such
  /// vertex.
  int shared_vertices_end() const;
  std::int64_t num_global_cells() const;     ///< number of cells of the whole mesh
  std::int64_t num_global_vertices() const;  ///< including vertices that belong to no cell
  /// Number of vertices of the whole mesh that belong to no cell.
  std::int64_t num_unused_vertices() const { return num_unused_; }
  /// Number of directors in the whole mesh. Directors are vectors, stored as vertices, that define the orientations of
  /// the cross-sections of segments, or describe the rotors of joints (`rotor_mesh`).
  std::int64_t num_global_directors() const { return num_directors_; }
  /// Flags of the local vertices: non-zero for each vertex that is a director. Empty if the mesh has no directors.
  const std::vector<char>& is_director() const { return is_director_; }

  /// Local vertices of the cells, [num_cells, nodes_per_cell]: the corners, positively oriented, then the mid-edge
  /// nodes.
  std::span<const int> cells() const {
    return {cells_.data(), static_cast<std::size_t>(nodes_per_cell()) * static_cast<std::size_t>(num_cells_)};
  }
  /// This rank's cells of `kind`. `kind` must be a kind of lower dimension than tetrahedra (`lower_kinds`).
  const LowerCellSet& lower_cells(CellKind kind) const { return lower_[index_of(kind)]; }
  /// Number of cells of `kind` in the whole mesh. `kind` may be any kind.
  std::int64_t num_global(CellKind kind) const;
  /// Set of this rank's cells of `kind`, on which fields can have values; includes the locations of the cells in files.
  /// `kind` may be any kind.
  const std::shared_ptr<const Entities>& cell_entities(CellKind kind) const {
    return kind == CellKind::tetrahedron ? cell_entities_ : lower_cells(kind).entities;
  }
  /// Map from this rank's cells of `kind` to their locations in files. `kind` may be any kind.
  const FileOrder& cell_order(CellKind kind) const {
    return kind == CellKind::tetrahedron ? *cell_order_ : *lower_cells(kind).order;
  }
  /// Gather and scatter pattern between cells and vertices for loops over all cells.
  const CellScatter& scatter() const { return *scatter_; }
  const std::vector<double>& rest_positions() const { return positions_; }  ///< [num_vertices, 3], m
  /// Rest positions of this rank's block of vertices in file order, including unused vertices: [block_size, 3] in m.
  /// Collective.
  std::vector<double> file_positions() const;
  /// Set of this rank's vertices, ghosts included, on which fields can have values.
  const std::shared_ptr<const Entities>& vertex_entities() const { return vertices_; }
  /// Set of the vertices that this rank owns, without ghosts, on which fields can have values.
  const std::shared_ptr<const Entities>& owned_vertex_entities() const { return owned_vertices_; }
  /// Set of this rank's tetrahedra, on which fields can have values.
  const std::shared_ptr<const Entities>& cell_entities() const { return cell_entities_; }
  const Exchange& vertex_exchange() const { return *vertex_exchange_; }  ///< exchange between owned vertices and ghosts
  const FileOrder& vertex_order() const { return *vertex_order_; }       ///< locations of local vertices in files
  const FileOrder& cell_order() const { return *cell_order_; }  ///< locations of this rank's tetrahedra in files

  /// Bodies of the mesh, in the order of their vertex numbers in the file. The list is empty if the mesh is a single
  /// body without a name; a single affine body without a name is in the list with the name `body`.
  const std::vector<MeshBody>& bodies() const { return bodies_; }
  /// Index in `bodies()` of the body with this name. If no body has this name, throws Error of kind `input`; the
  /// message suggests a similar name, if there is one, and lists all names.
  std::size_t find_body(const std::string& name) const;
  /// Descriptions of the named groups of the mesh file, or of the sides of a box.
  const std::vector<RegionInfo>& region_infos() const { return infos_; }
  /// Defines a region by its vertices. If `body` is not empty, the region contains only vertices of that body, and the
  /// numbers of a VertexList are relative to the body's first vertex. Throws Error of kind `input` if the name is
  /// already used, if a listed vertex does not exist or is a director, or if the region has no vertex. Collective.
  void define_region(const std::string& name, const RegionShape& shape, const std::string& body = {});
  /// Returns the region with the given name. The name is `all`, BODY/all, the name of a region that define_region() has
  /// defined, or the name of groups of the mesh. Groups of any dimension with the same name are united. If no group has
  /// the name, the name is interpreted as a tag (BODY/TAG in a mesh of several bodies), and the groups with this tag
  /// are united. For an unknown name, throws Error of kind `input`; the message suggests the most similar name and
  /// lists all names. Collective.
  const Region& region(const std::string& name) const;
  /// Returns this rank's faces of a region; each face is on only one rank. If groups of faces in the mesh file have
  /// this name, the result is the faces of these groups. Otherwise the result is the boundary faces that belong to the
  /// region's cells (for a group of the file) or that have all their vertices in the region (for other regions).
  /// Collective.
  std::vector<Face> faces(const std::string& name) const;
  bool has_region(const std::string& name) const;  ///< true if `region` accepts the name
  std::vector<std::string> region_names() const;   ///< names of all regions, beginning with `all`
  /// This rank's boundary faces: faces that belong to only one cell of the whole mesh. Collective on the first call.
  const std::vector<Face>& boundary() const;

  /// Affine body that the local cell `cell` represents, or nullptr if the cell represents only itself.
  const AffineBody* affine_body(int cell) const;
  /// Ratio (volume that the cell represents) / (volume of the cell), for each of `cells` or, if `cells` is empty, for
  /// all cells. The ratio is AffineBody::volume_factor for cells of affine bodies and 1 for other cells. The result is
  /// empty if the mesh has no affine bodies.
  std::vector<double> volume_factors(const std::vector<int>& cells = {}) const;

  MeshQuality quality() const;  ///< collective
  /// Hash of the cells of all kinds, in file order, and of the coordinates of their nodes. The hash does not include
  /// directors and does not depend on the number of ranks. Collective.
  std::uint64_t fingerprint() const;

 private:
  /// Returns flags of the local vertices: non-zero for each vertex that belongs to the body and is not a director.
  std::vector<char> vertices_of_body(std::size_t body) const;
  void find_directors();
  /// Adds to `region`, in ascending order, the cells of all kinds whose vertices are all marked.
  void add_cells_within(const std::vector<char>& marks, Region& region) const;
  /// Returns the indices in `infos_` of the groups called `name`. If no group has this name, returns the indices of the
  /// groups whose tag, or BODY/TAG in a mesh of several bodies, equals `name` as a text.
  std::vector<std::size_t> groups(const std::string& name) const;
  void number(MeshData& data);
  void read_groups(const MeshData& data, const FileOrder& cell_blocks, const FileOrder& vertex_blocks);
  void read_lower_groups(const MeshData& data, CellKind kind, std::vector<std::vector<char>>& marks);
  void find_unused(const std::vector<double>& coordinates, int block_vertices);
  Face face(int cell, int opposite) const;
  /// Sets the vertices of a region, and the numbers of vertices and cells of the region over all ranks. `marks`
  /// [num_vertices] marks the vertices; a vertex is in the region if any rank marks the vertex. Collective.
  void finish(Region& region, std::vector<char> marks) const;

  MPI_Comm comm_;
  int order_ = 1;
  int quadrature_degree_ = 1;
  int num_cells_ = 0;
  int num_shared_cells_ = 0;
  std::array<LowerCellSet, 3> lower_;
  std::vector<int> cells_;  // including copies of a cell that pad the last pack
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
/// cell, where X is the rest position of the corner. The centre of mass c is the mean of the four corners. `v` is in
/// m/s; ω is the argument `w`, in rad/s. Collective.
void add_rigid_velocity(const TetrahedralMesh& mesh, const std::string& body, const std::array<double, 3>& v,
                        const std::array<double, 3>& w, std::vector<double>& velocities);

}  // namespace diffsim
