// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/mesh/region.hpp"

namespace diffsim {

/// Triangle surface in space: vertices, and the corners of each triangle.
struct TriangleMesh {
  std::vector<std::array<double, 3>> vertices;  ///< m
  std::vector<std::array<int, 3>> triangles;    ///< indices in `vertices` of the three corners of each triangle
};

/// Surface mesh and volume (m³) of an affine body, neither of which the body's single mesh cell represents.
///
/// The motion of an affine body is x(X, t) = A(t) X + b(t), where x is the position at time t of the point with the
/// rest position X, A is a 3×3 matrix and b is a vector. The positions of four nodes determine the matrix A and the
/// vector b of an affine motion (Lan et al. 2022, Affine body dynamics, ACM Transactions on Graphics 41). In diffsim
/// the four nodes of an affine body are the corners of one linear tetrahedron, the inertial tetrahedron. The corners of
/// the inertial tetrahedron are chosen so that four equal masses at the corners, each a quarter of the body's mass,
/// have the body's centre of mass and moments of inertia. The lumped mass matrix of the inertial tetrahedron is the
/// exact mass matrix of the affine body. The strain of the inertial tetrahedron equals the strain of the affine body,
/// so the body's elastic energy is the energy density times the body's volume.
struct AffineBody {
  double volume_factor = 1.0;  ///< volume of the affine body / volume of its inertial tetrahedron
  /// Volume of the affine body (m³). A body that is created from MassProperties has the volume `mass` / (1000 kg/m³),
  /// unless place() scales the body.
  double volume = 0.0;
  /// Surface of the affine body in the rest configuration: closed, with normals that point outwards; open or empty
  /// surfaces are allowed for bodies that are created from MassProperties.
  TriangleMesh surface;
};

/// Surface of triangles that represents a body in contact, in place of the boundary of the body's tetrahedra: a fine
/// skin around coarse cells, or a closed hull around cells with gaps. The vertices of a BodySurface are given in the
/// rest configuration of the body.
struct BodySurface {
  std::string body;   ///< name of the body that the surface represents; "body" if the only body of the mesh has no name
  TriangleMesh mesh;  ///< triangles of the surface
};

/// Description of a named set of cells, faces or vertices: a group of the mesh file, or a side of a box (box_mesh()).
struct RegionInfo {
  std::string name;  ///< name of the set in the mesh file; the decimal number `tag` if the file gives no name
  /// Dimension of the set. Sets of dimension 3 contain tetrahedra, sets of dimension 2 contain triangles or faces of
  /// tetrahedra, sets of dimension 1 contain segments or the vertices of curves, and sets of dimension 0 contain points
  /// or vertices.
  int dimension = 3;
  int tag = 0;         ///< integer that identifies the set in the mesh file
  std::string body{};  ///< name BODY of the set's body in a mesh of several bodies, where `name` is BODY/NAME
};

/// Computational work of a time step for a body's cells. The unit of computational work is the work of an explicit time
/// step for one linear tetrahedron. The partitioner assigns cells with nearly the same total work to each rank.
struct CellWork {
  double cell = 1.0;  ///< computational work per cell; four times this work is counted for second-order tetrahedra
  double face = 0.0;  ///< computational work of contact per triangle of the body's surface; 0 without contact
  bool operator==(const CellWork&) const = default;  ///< compares both members
};

/// One body of a mesh of several bodies. The numbers of a body's vertices in the mesh file are contiguous, and so are
/// the numbers of the body's cells of each kind. The range of a body's vertex numbers or cell numbers ends where the
/// range of the next body begins. Different bodies have no vertex in common.
struct MeshBody {
  std::string name;                                ///< name of the body
  std::int64_t first_vertex = 0;                   ///< number of the body's first vertex in the mesh file
  std::int64_t first_cell = 0;                     ///< number of the body's first tetrahedron in the mesh file
  std::array<std::int64_t, 3> first_lower_cell{};  ///< numbers of the body's first point, segment and triangle
  CellKind kind = CellKind::tetrahedron;           ///< kind of those cells of the body that have the highest dimension
  /// Number of directors, which are the last vertices of the body. A director, a vector stored as a vertex, defines the
  /// orientation of a segment's cross-section, or describes the rotor of a joint (`rotor_mesh`).
  std::int64_t num_directors = 0;
  std::shared_ptr<const AffineBody> affine{};  ///< surface mesh and volume of an affine body; nullptr for other bodies
  CellWork work{};                             ///< computational work of the body's cells per time step
};

/// One rank's block of a mesh, before the mesh is partitioned: contiguous ranges of vertices and of cells in the order
/// of the mesh file.
///
/// A serial reader of mesh files stores the whole mesh on rank 0 and empty blocks on the other ranks. A parallel reader
/// of mesh files and box_mesh() fill one block per rank. Vertex and cell numbers in a MeshData are global, 0-based and
/// in the order of the mesh file. Cells of each kind are numbered separately. In the comments of MeshData, cells
/// without a stated kind are tetrahedra. Vertices include the nodes on the edges of second-order cells.
struct MeshData {
  /// Membership of a cell in a region.
  struct CellRegion {
    std::int64_t cell;    ///< global number of a cell that is in this rank's block
    std::int32_t region;  ///< index into `regions`
  };
  /// Membership of a face of a tetrahedron in a region.
  struct FaceRegion {
    std::int64_t cell;    ///< global number of the tetrahedron, in this rank's block, to which the face belongs
    std::int32_t face;    ///< number (0 to 3) of the corner of the tetrahedron that is opposite to the face
    std::int32_t region;  ///< index into `regions`
  };
  /// Membership of a vertex in a region.
  struct VertexRegion {
    std::int64_t vertex;  ///< global number of a vertex that is in this rank's block
    std::int32_t region;  ///< index into `regions`
  };
  /// Triangles, segments or points in this rank's block of a mesh. The cells of a LowerCells form separate bodies and
  /// are not faces or edges of tetrahedra.
  struct LowerCells {
    std::int64_t num = 0;             ///< number of cells of one kind (points, segments or triangles) in the whole mesh
    std::int64_t first = 0;           ///< global number of the first cell in this rank's block
    std::vector<std::int64_t> nodes;  ///< vertex numbers of the corners of each cell, [block cells, corners]
    /// Number of directors in the whole mesh. A director is a vector, stored as a vertex, that defines the orientation
    /// of the cross-section of a segment, or describes the rotor of a joint (`rotor_mesh`).
    std::int64_t num_directors = 0;
    /// Vertex number of the director of each segment or point in this rank's block, or -1 for a cell without a
    /// director: [block cells]. The vector `directors` is empty if no cell of the mesh has a director. The director of
    /// a point is the point's own vertex.
    std::vector<std::int64_t> directors;
    std::vector<CellRegion> regions;  ///< region memberships of the cells in this rank's block
  };

  int order = 1;  ///< order of the tetrahedra, the same on every rank: 1 (4 nodes) or 2 (10 nodes, see element.hpp)
  std::int64_t num_vertices = 0;  ///< number of vertices of the whole mesh
  std::int64_t num_cells = 0;     ///< number of tetrahedra of the whole mesh
  std::int64_t first_vertex = 0;  ///< global number of the first vertex in this rank's block
  std::int64_t first_cell = 0;    ///< global number of the first tetrahedron in this rank's block

  std::vector<double> coordinates;  ///< coordinates of the vertices in this rank's block, [block vertices, 3], m
  /// Vertex numbers of the nodes of each tetrahedron in this rank's block, [block cells, 4 or 10]. Tetrahedra are
  /// positively oriented: det[x1-x0, x2-x0, x3-x0] > 0 for the positions x0, x1, x2, x3 of the corners.
  std::vector<std::int64_t> cells;
  std::vector<RegionInfo> regions;           ///< all regions of the mesh; the same on every rank
  std::vector<CellRegion> cell_regions;      ///< region memberships of the tetrahedra in this rank's block
  std::vector<FaceRegion> face_regions;      ///< region memberships of the faces of the tetrahedra in this rank's block
  std::vector<VertexRegion> vertex_regions;  ///< region memberships of the vertices in this rank's block
  std::array<LowerCells, 3> lower_cells;     ///< this rank's blocks of the points, segments and triangles
  std::int64_t num_unused_vertices = 0;      ///< number of vertices of the whole mesh that belong to no cell
  /// Bodies in the order of their vertex numbers, the same on every rank. The list `bodies` is empty if the mesh is a
  /// single body without a name.
  std::vector<MeshBody> bodies;
  /// Surface mesh and volume of the body if the mesh is a single affine body; set on every rank. join_bodies() and
  /// TetrahedralMesh copy the pointer `affine` to MeshBody::affine.
  std::shared_ptr<const AffineBody> affine{};
  CellWork work{};  ///< computational work of the cells of a mesh with an empty list `bodies`; the same on every rank

  int nodes_per_cell() const { return nodes_of_order(order); }  ///< 4 or 10
  /// Number of vertices in this rank's block of the mesh.
  std::int64_t block_vertices() const { return static_cast<std::int64_t>(coordinates.size() / 3); }
  /// Number of tetrahedra in this rank's block of the mesh.
  std::int64_t block_cells() const {
    return static_cast<std::int64_t>(cells.size()) / static_cast<std::int64_t>(nodes_per_cell());
  }
  /// Returns this rank's block of the cells of the kind `kind`, one of `lower_kinds`.
  LowerCells& lower(CellKind kind) { return lower_cells[index_of(kind)]; }
  const LowerCells& lower(CellKind kind) const { return lower_cells[index_of(kind)]; }  ///< constant overload
  /// Number of cells of the kind `kind`, one of `lower_kinds`, in this rank's block.
  std::int64_t block_of(CellKind kind) const {
    return static_cast<std::int64_t>(lower(kind).nodes.size()) / corners_of(kind);
  }
  /// Kind of the cells of the highest dimension in the whole mesh; `point` if the mesh has no cells.
  CellKind kind() const {
    CellKind highest = num_cells > 0 ? CellKind::tetrahedron : CellKind::point;
    for (const CellKind kind : lower_kinds)
      if (lower(kind).num > 0 && dimension_of(kind) > dimension_of(highest)) highest = kind;
    return highest;
  }
  /// Number of cells of the kind `kind`, which may be any CellKind, in the whole mesh.
  std::int64_t num_of(CellKind kind) const { return kind == CellKind::tetrahedron ? num_cells : lower(kind).num; }
};

}  // namespace diffsim
