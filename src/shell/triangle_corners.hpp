// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Returns the local vertices at the corners of triangles, [triangles, 3]. `triangles`: local indices of the triangles.
inline std::vector<int> triangle_corners(const TetrahedralMesh& mesh, const std::vector<int>& triangles) {
  const std::vector<int>& all = mesh.lower_cells(CellKind::triangle).vertices;
  std::vector<int> corners;
  for (const int triangle : triangles)
    for (std::size_t a = 0; a < 3; ++a) corners.push_back(all[3 * static_cast<std::size_t>(triangle) + a]);
  return corners;
}

}  // namespace diffsim
