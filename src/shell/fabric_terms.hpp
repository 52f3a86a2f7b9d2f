// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Membranes of woven cloth (`FabricEnergy`) of local triangles.
std::unique_ptr<ForceTerm> make_fabric_membranes(const TetrahedralMesh& mesh, const std::vector<int>& triangles);
/// Hinges whose stiffness depends on the direction of the threads (`FabricHinge`). Throws Error (input) where a side
/// has more than two triangles. Collective.
std::unique_ptr<ForceTerm> make_fabric_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles);
/// Limits of the strain of their threads (`FabricLimit`).
std::unique_ptr<ForceTerm> make_fabric_limits(const TetrahedralMesh& mesh, const std::vector<int>& triangles);

}  // namespace diffsim
