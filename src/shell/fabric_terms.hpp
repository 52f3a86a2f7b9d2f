// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Membranes of woven cloth (`FabricEnergy`) of local triangles.
std::unique_ptr<ForceTerm> make_fabric_membranes(const TetrahedralMesh& mesh, const std::vector<int>& triangles);
/// Hinges whose stiffness depends on the direction of the threads (`FabricHinge`). `given`: one of its stiffnesses that
/// the scene gives, for the message. Throws Error (input) where a side has more than two triangles. Collective.
std::unique_ptr<ForceTerm> make_fabric_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                              const ParameterSpec& given);
/// Limits of the strain of their threads (`FabricLimit`).
std::unique_ptr<ForceTerm> make_fabric_limits(const TetrahedralMesh& mesh, const std::vector<int>& triangles);

}  // namespace diffsim
