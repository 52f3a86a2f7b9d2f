// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Appends the flat triangles that stand for a boundary face, in local vertices, normals outwards.
void add_triangles_of(const Face& face, std::vector<std::array<int, 3>>& triangles);

/// The flat triangles of this rank's surface, in local vertices. Of tetrahedra those that stand for boundary faces,
/// normals outwards: a linear face itself; of a second-order face the four between its corners and the nodes on its
/// edges. Then the triangles that are bodies of their own.
std::vector<std::array<int, 3>> surface_triangles(const TetrahedralMesh& mesh);

/// Rest area of a triangle, m².
double rest_area(const TetrahedralMesh& mesh, const std::array<int, 3>& triangle);

/// Owned vertices of the mesh's surface, ascending, and the rest area that each stands for: a third of its triangles'.
struct SurfaceAreas {
  std::vector<int> vertices;
  std::vector<double> areas;  ///< m²
};

/// Collective.
SurfaceAreas surface_areas(const TetrahedralMesh& mesh);

/// The areas that the owned vertices stand for, as functions of the rest shape X [local vertices, 3]: [owned vertices],
/// m², zero inside. Every method is collective.
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
  std::vector<std::array<int, 3>> triangles_;
};

}  // namespace diffsim::contact
