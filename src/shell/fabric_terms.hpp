// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the force term of the membrane energy of woven cloth (`FabricEnergy`). `triangles`: local indices of the
/// triangles of woven cloth.
std::unique_ptr<ForceTerm> make_fabric_membranes(const TetrahedralMesh& mesh, const std::vector<int>& triangles);
/// Creates the force term of the bending energy of woven cloth (`FabricHinge`) at the sides between triangles, with
/// bending stiffnesses that depend on the direction of the threads. `triangles`: local indices of the triangles of
/// woven cloth. `given`: specification of a bending stiffness for which the user has given a value; error messages name
/// this bending stiffness. Throws Error (input) if more than two triangles share a side. Collective.
std::unique_ptr<ForceTerm> make_fabric_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                              const ParameterSpec& given);
/// Creates the force term that limits the strain of the threads of woven cloth (`FabricLimit`). `triangles`: local
/// indices of the triangles of woven cloth.
std::unique_ptr<ForceTerm> make_fabric_limits(const TetrahedralMesh& mesh, const std::vector<int>& triangles);

}  // namespace diffsim
