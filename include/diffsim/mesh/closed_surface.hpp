// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "diffsim/mesh/polygon_reader.hpp"

namespace diffsim {

/// Reason why triangles enclose no volume: an edge that has not two triangles turned alike, by its ends; empty where
/// they do.
std::string fault_of_volume(const TriangleMesh& mesh);

/// Sum of the areas of all triangles, m².
double surface_area(const TriangleMesh& mesh);

/// Moments of the volume that a closed surface encloses.
struct VolumeMoments {
  double volume = 0.0;             ///< V, m³; negative where the triangles are turned inwards
  std::array<double, 3> centre{};  ///< c = ∫ x dV / V, m
  double covariance[3][3] = {{}};  ///< C = ∫ (x - c)(x - c)ᵀ dV / V, m²
};

/// Moments of the volume inside closed triangles, as the sum of the tetrahedra from each triangle to one point, with
/// signs. Exact for the polyhedron but for rounding.
VolumeMoments volume_moments(const TriangleMesh& mesh);

}  // namespace diffsim
