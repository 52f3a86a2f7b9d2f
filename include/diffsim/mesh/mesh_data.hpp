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
  std::vector<std::array<int, 3>> triangles;    ///< indices of the corners in `vertices`
};

/// Surface and volume of an affine body. The body's single mesh cell does not represent the body's surface and volume.
///
/// The motion of an affine body is x(X, t) = A(t) X + b(t), where x is the position at time t of the point with the
/// rest position X, A is a 3×3 matrix and b is a vector. The positions of four nodes determine A and b (Lan et al.
/// 2022, Affine body dynamics, ACM Trans. Graph. 41). In diffsim the four nodes are the corners of one linear
/// tetrahedron, the inertial tetrahedron. The corners are chosen so that four equal masses at the corners, each a
/// quarter of the body's mass, have the body's centre of mass and moments of inertia. The lumped mass matrix of the
/// cell is then the exact mass matrix of the affine motion. The strain of the cell equals the strain of the body, so
/// the elastic energy is the energy density times the body's volume.
struct AffineBody {
  double volume_factor = 1.0;  ///< volume of the body / volume of the inertial tetrahedron
  /// Volume of the body (m³). A body with MassProperties has the volume mass / (1000 kg/m³), unless place() scales the
  /// body.
  double volume = 0.0;
  /// Surface in the rest configuration. The surface is closed and its normals point outwards. For a body with
  /// MassProperties, the surface may be open or empty.
  TriangleMesh surface;
};

/// Surface of triangles that represents a body in contact, in place of the boundary of the body's tetrahedra: a fine
/// skin around coarse cells, or a closed hull around cells with gaps. The vertices are given in the rest configuration
/// of the body.
struct BodySurface {
  std::string body;   ///< name of a body of the mesh; `body` if the only body of the mesh has no name
  TriangleMesh mesh;  ///< triangles of the surface
};

/// Description of a named set of cells, faces or vertices: a group of the mesh file, or a side of a box.
struct RegionInfo {
  std::string name;  ///< name in the file; the tag as a decimal number if the file gives no name
  /// Dimension of the set. The entities are tetrahedra for dimension 3, triangles or faces of tetrahedra for 2,
  /// segments or the vertices of curves for 1, and points or vertices for 0.
  int dimension = 3;
  int tag = 0;         ///< integer that identifies the set in the file
  std::string body{};  ///< in a mesh of several bodies: the body whose file defines the set; `name` is then BODY/NAME
};

/// Computational work of a time step for a body's cells. The unit is the work of an explicit time step for one linear
/// tetrahedron. The partition assigns nearly the same work to each rank.
struct CellWork {
  double cell = 1.0;                                 ///< work per cell; multiplied by four for second-order tetrahedra
  double face = 0.0;                                 ///< work of contact per triangle of the surface; 0 without contact
  bool operator==(const CellWork&) const = default;  ///< compares both members
};

/// One body of a mesh of several bodies. The numbers of a body's vertices in the file are contiguous, and so are the
/// numbers of the body's cells of each kind. Each of these ranges ends where the range of the next body begins.
/// Different bodies have no vertex in common.
struct MeshBody {
  std::string name;                                ///< name of the body
  std::int64_t first_vertex = 0;                   ///< number of the first vertex
  std::int64_t first_cell = 0;                     ///< number of the first tetrahedron
  std::array<std::int64_t, 3> first_lower_cell{};  ///< number of the first cell of each of `lower_kinds`
  CellKind kind = CellKind::tetrahedron;           ///< kind of the body's cells of the highest dimension
  /// Number of directors, which are the last vertices of the body. A director is a vector, stored as a vertex, that
  /// defines the orientation of the cross-section of a segment, or describes the rotor of a joint (`rotor_mesh`).
  std::int64_t num_directors = 0;
  std::shared_ptr<const AffineBody> affine{};  ///< surface and volume of an affine body; nullptr for other bodies
  CellWork work{};                             ///< work of the body's cells
};

/// One rank's block of a mesh, before the mesh is partitioned: contiguous ranges of vertices and of cells in the order
/// of the mesh file.
///
/// A serial reader stores the whole mesh on rank 0 and empty blocks on the other ranks. A parallel reader and the box
/// generator fill one block per rank. Vertex and cell numbers are global, 0-based and in file order. Cells of each kind
/// are numbered separately; where no kind is stated, "cells" are tetrahedra. Vertices include the nodes on the edges of
/// second-order cells.
struct MeshData {
  /// Membership of a cell in a region.
  struct CellRegion {
    std::int64_t cell;    ///< number of the cell, which is in this block
    std::int32_t region;  ///< index into `regions`
  };
  /// Membership of a face of a tetrahedron in a region.
  struct FaceRegion {
    std::int64_t cell;    ///< number of the cell to which the face belongs; the cell is in this block
    std::int32_t face;    ///< 0..3: the corner of the cell opposite to the face
    std::int32_t region;  ///< index into `regions`
  };
  /// Membership of a vertex in a region.
  struct VertexRegion {
    std::int64_t vertex;  ///< number of the vertex, which is in this block
    std::int32_t region;  ///< index into `regions`
  };
  /// This rank's block of the triangles, segments or points of a mesh. These cells form separate bodies; they are not
  /// faces or edges of tetrahedra.
  struct LowerCells {
    std::int64_t num = 0;             ///< number of cells in the whole mesh
    std::int64_t first = 0;           ///< number of the first cell of this rank's block
    std::vector<std::int64_t> nodes;  ///< [block cells, corners]
    /// Number of directors in the whole mesh. A director is a vector, stored as a vertex, that defines the orientation
    /// of the cross-section of a segment, or describes the rotor of a joint (`rotor_mesh`).
    std::int64_t num_directors = 0;
    /// Vertex number of the director of each segment or point in this rank's block, or -1 for a cell without a
    /// director: [block cells]. Empty if no cell of the mesh has a director. The director of a point is the point's own
    /// vertex.
    std::vector<std::int64_t> directors;
    std::vector<CellRegion> regions;  ///< regions of the cells of this rank's block
  };

  int order = 1;  ///< order of the tetrahedra, the same on every rank: 1 (4 nodes) or 2 (10 nodes, see element.hpp)
  std::int64_t num_vertices = 0;  ///< number of vertices of the whole mesh
  std::int64_t num_cells = 0;     ///< number of tetrahedra of the whole mesh
  std::int64_t first_vertex = 0;  ///< number of the first vertex of this rank's block
  std::int64_t first_cell = 0;    ///< number of the first tetrahedron of this rank's block

  std::vector<double> coordinates;       ///< [block vertices, 3], scaled to m
  std::vector<std::int64_t> cells;       ///< [block cells, 4 or 10], positively oriented: det[x1-x0, x2-x0, x3-x0] > 0
  std::vector<RegionInfo> regions;       ///< all regions of the mesh; the same on every rank
  std::vector<CellRegion> cell_regions;  ///< regions of this block's tetrahedra
  std::vector<FaceRegion> face_regions;  ///< regions of faces of this block's tetrahedra
  std::vector<VertexRegion> vertex_regions;  ///< regions of this block's vertices
  std::array<LowerCells, 3> lower_cells;     ///< block of each of `lower_kinds`
  std::int64_t num_unused_vertices = 0;      ///< number of vertices of the whole mesh that belong to no cell
  /// Bodies in the order of their vertex numbers, the same on every rank. The list is empty if the mesh is a single
  /// body without a name.
  std::vector<MeshBody> bodies;
  /// Surface and volume of the body if the mesh is a single affine body; set on every rank. join_bodies() and
  /// TetrahedralMesh copy this pointer to MeshBody::affine.
  std::shared_ptr<const AffineBody> affine{};
  CellWork work{};  ///< work of the only body if `bodies` is empty; the same on every rank

  int nodes_per_cell() const { return nodes_of_order(order); }  ///< 4 or 10
  /// Number of vertices in this rank's block.
  std::int64_t block_vertices() const { return static_cast<std::int64_t>(coordinates.size() / 3); }
  /// Number of tetrahedra in this rank's block.
  std::int64_t block_cells() const {
    return static_cast<std::int64_t>(cells.size()) / static_cast<std::int64_t>(nodes_per_cell());
  }
  LowerCells& lower(CellKind kind) { return lower_cells[index_of(kind)]; }  ///< block of one of `lower_kinds`
  const LowerCells& lower(CellKind kind) const { return lower_cells[index_of(kind)]; }  ///< constant overload
  /// Number of cells of `kind` in this rank's block. `kind` must be a kind of lower dimension than tetrahedra
  /// (`lower_kinds`).
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
  /// Number of cells of `kind` in the whole mesh. `kind` may be any kind.
  std::int64_t num_of(CellKind kind) const { return kind == CellKind::tetrahedron ? num_cells : lower(kind).num; }
};

}  // namespace diffsim
