// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Flat piece of a surface, given by the local indices of the vertices at the piece's corners: a triangle (a, b, c); a
/// segment with the ends a and b, stored as (a, b, b); or a point a, stored as (a, a, a).
using SurfacePiece = std::array<int, 3>;

/// Dimension of a surface piece: 2 for a triangle, 1 for a segment, 0 for a point.
template <class Corner>
int dimension_of(const std::array<Corner, 3>& piece) {
  return piece[1] != piece[2] ? 2 : piece[0] != piece[1] ? 1 : 0;
}

/// Returns the dimension of the surface of the body that contains a vertex: 2 for a body of tetrahedra or triangles, 1
/// for a body of segments, 0 for a body of points. `number`: number of the vertex in the mesh file.
int surface_dimension(const TetrahedralMesh& mesh, std::int64_t number);

/// Appends to `triangles` the flat triangles that represent a boundary face: one for a linear face, four for a
/// second-order face. The appended triangles have the orientation of the face, so the normals of the triangles on a
/// boundary face of a tetrahedron point outward.
void add_triangles_of(const Face& face, std::vector<SurfacePiece>& triangles);

/// Returns those cells of the given kind (triangles, segments or points) on this rank that are pieces of the mesh's
/// surface. All triangle cells are pieces of the surface; segments and points are pieces of the surface if their body
/// has no cells of a higher dimension. Point cells at directors, which are vertices that store vectors and not
/// positions, are not pieces of the surface.
std::vector<SurfacePiece> pieces_of_kind(const TetrahedralMesh& mesh, CellKind kind);

/// Returns the pieces of the mesh's surface on this rank. Boundary faces of tetrahedra are represented by triangles
/// with outward normals: a linear face by one triangle, a second-order face by four triangles between the face's
/// corners and the nodes on the face's edges. The list that `surface_pieces` returns contains the triangles of boundary
/// faces, followed by the cells that `pieces_of_kind` returns: triangles, then segments, then points.
std::vector<SurfacePiece> surface_pieces(const TetrahedralMesh& mesh);

/// Returns the area of a triangle (m²) or the length of a segment (m) at the positions X [local vertices, 3], divided
/// by the number of corners of the triangle or segment; returns 1 for a point.
double corner_measure(const std::vector<double>& X, const SurfacePiece& piece);

/// Owned vertices of the triangles (dimension 2), the segments (dimension 1) or the points (dimension 0) of a mesh's
/// surface, in ascending order. The tributary area or length of a vertex is a third of the sum of the areas of the
/// vertex's triangles (m²), or half of the sum of the lengths of the vertex's segments (m), in the rest shape. On a
/// body of points, the number of cells that consist of a vertex replaces the tributary area.
struct SurfaceAreas {
  std::vector<int> vertices;
  std::vector<double> areas;  ///< tributary area (m²) or length (m) of each vertex, or number of its cells
};

/// Returns the owned vertices of the surface pieces of one dimension (2: triangles, 1: segments, 0: points), and the
/// tributary areas or lengths of these vertices (see SurfaceAreas). Collective.
SurfaceAreas surface_areas(const TetrahedralMesh& mesh, int dimension = 2);

/// Tributary areas or lengths of the owned vertices (see SurfaceAreas), as functions of the rest shape X [local
/// vertices, 3]. The areas and lengths are returned as an array [owned vertices], which contains zero for a vertex that
/// is not on the surface. Every method of RestAreas is collective.
class RestAreas {
 public:
  explicit RestAreas(const TetrahedralMesh& mesh);

  std::vector<double> areas(const Field& rest) const;
  /// Returns the derivatives of the vertices' tributary areas or lengths along `direction` [local vertices, 3], a
  /// change of the rest shape `rest`.
  std::vector<double> tangent(const Field& rest, const Field& direction) const;
  /// Adds this rank's contribution to Σ_v m̄_v ∂m_v/∂X to `gradient` [local vertices, 3], where X is the rest shape
  /// `rest`, m_v is the tributary area or length of the vertex v, and m̄_v is the adjoint of m_v. On entry, the first
  /// component of the field `areas_bar` [local vertices, 3] at each owned vertex v is m̄_v, summed over all ranks.
  /// `add_gradient` sets the ghost values of the field `areas_bar`.
  void add_gradient(const Field& rest, Field& areas_bar, Field& gradient) const;

 private:
  std::vector<double> sums(const Field& rest, const Field* direction) const;

  const TetrahedralMesh* mesh_;
  std::vector<SurfacePiece> pieces_;
};

}  // namespace diffsim::contact
