// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::contact {

/// Owned vertices of the mesh's surface, ascending, and the rest area that each stands for: a third of its triangles'.
struct SurfaceAreas {
  std::vector<int> vertices;
  std::vector<double> areas;  ///< m²
};

/// Collective.
SurfaceAreas surface_areas(const TetrahedralMesh& mesh);

}  // namespace diffsim::contact
