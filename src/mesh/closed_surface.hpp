// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Returns the reason why the triangles of a mesh do not enclose a volume, or an empty string if the surface is closed.
/// The returned reason names an edge that does not belong to exactly two triangles of consistent orientation.
std::string volume_error(const TriangleMesh& mesh);

/// Returns the sum of the areas of all triangles of a mesh (m²).
double surface_area(const TriangleMesh& mesh);

/// Volume, centroid and covariance of the solid that a closed surface encloses.
struct VolumeMoments {
  double volume = 0.0;             ///< volume V (m³); negative if the normals point inwards
  std::array<double, 3> centre{};  ///< centroid c = ∫ x dV / V (m)
  double covariance[3][3] = {{}};  ///< covariance ∫ (x - c)(x - c)ᵀ dV / V (m²), with volume V and centroid c
};

/// Computes the volume, centroid and covariance of the solid inside a closed triangle surface, exactly up to rounding
/// errors, as sums over the signed tetrahedra from a vertex of the surface to each triangle.
VolumeMoments volume_moments(const TriangleMesh& mesh);

}  // namespace diffsim
