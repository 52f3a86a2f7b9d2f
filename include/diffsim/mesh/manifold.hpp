// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Throws Error (input) where three or more triangles of the mesh have a common side, or three or more segments a
/// common end, of which one is among `cells`, local. `what` needs a manifold because of `parameter`, or in any case
/// where that is empty. Collective.
void require_manifold(const TetrahedralMesh& mesh, CellKind kind, const std::vector<int>& cells,
                      const std::string& what, const std::string& parameter);

}  // namespace diffsim
