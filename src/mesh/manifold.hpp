// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Throws Error of kind `input` if three or more cells of the kind `kind`, at least one of which is in the list
/// `cells`, share a side (triangles) or an end (segments). `cells`: local numbers.
///
/// The error message contains the text `what`, which names the object that must be a manifold, for example "a shell".
/// If the name `parameter` is not empty, the error message suggests leaving out the parameter with this name.
/// Collective.
void require_manifold(const TetrahedralMesh& mesh, CellKind kind, const std::vector<int>& cells,
                      const std::string& what, const std::string& parameter);

}  // namespace diffsim
