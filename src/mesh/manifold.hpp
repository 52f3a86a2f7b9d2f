// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Throws Error of kind `input` if one of `cells` has a side (triangles) or an end (segments) that at least two other
/// cells of `kind` also have. `cells`: local numbers.
///
/// The message names `what` as the feature that requires a manifold. If `parameter` is not empty, the message suggests
/// leaving out that parameter. Collective.
void require_manifold(const TetrahedralMesh& mesh, CellKind kind, const std::vector<int>& cells,
                      const std::string& what, const std::string& parameter);

}  // namespace diffsim
