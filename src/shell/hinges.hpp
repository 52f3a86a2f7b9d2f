// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Halves of the hinges between triangles, each from the triangle whose share it is.
struct HingeStencils {
  std::vector<int> vertices;   ///< [stencils, 4], local; nodes as in HingeEnergy
  std::vector<int> triangles;  ///< [stencils], local
};

/// Hinges between these triangles, local ones, of a body of that kind, which have them because of the parameter of that
/// name. Throws Error (input) where a side has more than two triangles. Collective.
HingeStencils hinge_stencils(const TetrahedralMesh& mesh, const std::vector<int>& triangles, const std::string& kind,
                             const std::string& parameter);

/// Hinges (`HingeEnergy`) between triangles, local ones, of a body of that kind; `bending`: the parameter B. Throws
/// Error (input) where a side has more than two triangles. Collective.
std::unique_ptr<ForceTerm> make_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                       const std::string& kind, const ParameterSpec& bending);

}  // namespace diffsim
