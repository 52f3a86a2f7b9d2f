// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// A flat piece of a surface by its corners: a triangle; a segment a b, written a b b; or a point a, written a a a.
using SurfacePiece = std::array<int, 3>;

/// 2 for a triangle, 1 for a segment, 0 for a point.
template <class Corner>
int dimension_of(const std::array<Corner, 3>& piece) {
  return piece[1] != piece[2] ? 2 : piece[0] != piece[1] ? 1 : 0;
}

/// Dimension of the surface of the body that a vertex is of, by the vertex' number in the file: 2 of tetrahedra and
/// triangles, 1 of segments, 0 of points.
int surface_dimension(const TetrahedralMesh& mesh, std::int64_t number);

/// Appends the flat triangles that stand for a boundary face, in local vertices, normals outwards.
void add_triangles_of(const Face& face, std::vector<SurfacePiece>& triangles);

/// The cells of one kind, which is below tetrahedra, that are pieces of this rank's surface: triangles, and segments
/// and points of bodies that have no cells of a higher dimension.
std::vector<SurfacePiece> pieces_of_kind(const TetrahedralMesh& mesh, CellKind kind);

/// The pieces of this rank's surface, in local vertices. Of tetrahedra the triangles that stand for boundary faces,
/// normals outwards: a linear face itself; of a second-order face the four between its corners and the nodes on its
/// edges. Then the triangles, the segments and the points that are bodies of their own.
std::vector<SurfacePiece> surface_pieces(const TetrahedralMesh& mesh);

/// Measure of a piece at positions X [local vertices, 3] over the number of its corners: an area, m², a length, m,
/// or 1.
double corner_measure(const std::vector<double>& X, const SurfacePiece& piece);

/// Owned vertices of the pieces of one dimension of the mesh's surface, ascending, and the measure at rest that each
/// stands for: a third of its triangles' areas, half of its segments' lengths, or 1.
struct SurfaceAreas {
  std::vector<int> vertices;
  std::vector<double> areas;  ///< m², m or 1
};

/// Collective.
SurfaceAreas surface_areas(const TetrahedralMesh& mesh, int dimension = 2);

/// The measures that the owned vertices stand for, as functions of the rest shape X [local vertices, 3]: [owned
/// vertices], zero inside; a third of the areas of triangles, m², half of the lengths of segments, m, or the number of
/// points. Every method is collective.
class RestAreas {
 public:
  explicit RestAreas(const TetrahedralMesh& mesh);

  std::vector<double> areas(const Field& rest) const;
  /// Along dX.
  std::vector<double> tangent(const Field& rest, const Field& direction) const;
  /// X̄ += this rank's share; `areas_bar`: [local vertices, 3], in the first component, complete at owners.
  void add_gradient(const Field& rest, Field& areas_bar, Field& gradient) const;

 private:
  std::vector<double> sums(const Field& rest, const Field* direction) const;

  const TetrahedralMesh* mesh_;
  std::vector<SurfacePiece> pieces_;
};

}  // namespace diffsim::contact
