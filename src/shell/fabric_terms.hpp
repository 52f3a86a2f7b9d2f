// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the force term of the membrane energy of woven cloth (`FabricEnergy`). `triangles`: local indices of the
/// triangles.
std::unique_ptr<ForceTerm> make_fabric_membranes(const TetrahedralMesh& mesh, const std::vector<int>& triangles);
/// Creates the force term of the bending energy of woven cloth (`FabricHinge`) at the sides between triangles.
/// `triangles`: local indices of the triangles. The bending stiffness depends on the direction of the threads. `given`:
/// specification of a bending stiffness that the user has given, which the error message names. Throws Error (input) if
/// more than two triangles share a side. Collective.
std::unique_ptr<ForceTerm> make_fabric_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                              const ParameterSpec& given);
/// Creates the force term that limits the strain of threads (`FabricLimit`). `triangles`: local indices of the
/// triangles.
std::unique_ptr<ForceTerm> make_fabric_limits(const TetrahedralMesh& mesh, const std::vector<int>& triangles);

}  // namespace diffsim
