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

/// Dimension of a piece: 2 for a triangle, 1 for a segment, 0 for a point.
template <class Corner>
int dimension_of(const std::array<Corner, 3>& piece) {
  return piece[1] != piece[2] ? 2 : piece[0] != piece[1] ? 1 : 0;
}

/// Returns the dimension of the surface of the body that contains a vertex: 2 for a body of tetrahedra or triangles, 1
/// for segments, 0 for points. `number`: number of the vertex in the mesh file.
int surface_dimension(const TetrahedralMesh& mesh, std::int64_t number);

/// Appends the flat triangles that represent a boundary face: one for a linear face, four for a second-order face. The
/// triangles have the orientation of the face, so the normals of a boundary face of a tetrahedron point outward.
void add_triangles_of(const Face& face, std::vector<SurfacePiece>& triangles);

/// Returns those cells of one kind (triangles, segments or points) on this rank that are pieces of the mesh's surface.
/// All triangles are pieces; segments and points are pieces if their body has no cells of a higher dimension. Points
/// whose vertices are directors are not pieces.
std::vector<SurfacePiece> pieces_of_kind(const TetrahedralMesh& mesh, CellKind kind);

/// Returns the pieces of the mesh's surface on this rank. Boundary faces of tetrahedra are represented by triangles
/// with outward normals: a linear face by one triangle, a second-order face by four triangles between the face's
/// corners and the nodes on the face's edges. After these triangles, the list contains the cells that `pieces_of_kind`
/// returns: triangles, then segments, then points.
std::vector<SurfacePiece> surface_pieces(const TetrahedralMesh& mesh);

/// Returns the measure of a piece at positions X [local vertices, 3], divided by the number of the piece's corners. The
/// measure is the area of a triangle (m²), the length of a segment (m), or 1 for a point.
double corner_measure(const std::vector<double>& X, const SurfacePiece& piece);

/// Owned vertices of the triangles (dimension 2), the segments (dimension 1) or the points (dimension 0) of a mesh's
/// surface, in ascending order. Each vertex has a rest measure. For dimension 2, the rest measure is a third of the sum
/// of the areas of the vertex's triangles (m²); for dimension 1, half of the sum of the lengths of the vertex's
/// segments (m); for dimension 0, the number of point cells at the vertex.
struct SurfaceAreas {
  std::vector<int> vertices;
  std::vector<double> areas;  ///< rest measures, in m² or m, or numbers of point cells for dimension 0
};

/// Returns the owned vertices of the surface pieces of one dimension (2: triangles, 1: segments, 0: points), and the
/// rest measures of these vertices (see SurfaceAreas). Collective.
SurfaceAreas surface_areas(const TetrahedralMesh& mesh, int dimension = 2);

/// Rest measures of the owned vertices, as functions of the rest shape X [local vertices, 3]. A result is an array
/// [owned vertices] with one measure for each vertex: a third of the sum of the areas of a vertex's triangles (m²);
/// half of the sum of the lengths of a vertex's segments (m); the number of point cells at a vertex of a body of
/// points; or zero for a vertex that is not on the surface. Every method is collective.
class RestAreas {
 public:
  explicit RestAreas(const TetrahedralMesh& mesh);

  std::vector<double> areas(const Field& rest) const;
  /// Derivatives of the measures at the rest shape `rest`, in the direction `direction` [local vertices, 3] of the rest
  /// shape.
  std::vector<double> tangent(const Field& rest, const Field& direction) const;
  /// Adds this rank's contribution to X̄ = Σ_v m̄_v ∂m_v/∂X to `gradient` [local vertices, 3], with the rest shape X =
  /// `rest` and the measures m_v of the vertices v. On entry, the first component of `areas_bar` [local vertices, 3] at
  /// each owned vertex v is the adjoint m̄_v, summed over all ranks. The function sets the ghost values of `areas_bar`.
  void add_gradient(const Field& rest, Field& areas_bar, Field& gradient) const;

 private:
  std::vector<double> sums(const Field& rest, const Field* direction) const;

  const TetrahedralMesh* mesh_;
  std::vector<SurfacePiece> pieces_;
};

}  // namespace diffsim::contact
