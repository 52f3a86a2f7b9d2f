// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Nodes and triangles of the hinges, the common sides of pairs of triangles. Each hinge has two stencils, one for the
/// contribution of each of its two triangles to the bending energy.
struct HingeStencils {
  std::vector<int> vertices;   ///< [stencils, 4], local vertices; nodes in the order of `HingeEnergy`
  std::vector<int> triangles;  ///< [stencils], local triangle that contributes the energy
};

/// Returns the stencils of the hinges of a body. `triangles`: local indices of the body's triangles. The error message
/// names `kind`, the kind of the body, and `parameter`, the parameter that makes hinges necessary. Throws Error (input)
/// if a side has more than two triangles. Collective.
HingeStencils hinge_stencils(const TetrahedralMesh& mesh, const std::vector<int>& triangles, const std::string& kind,
                             const std::string& parameter);

/// Creates the force term of the bending energy at the hinges of a body (`HingeEnergy`). `triangles`: local indices of
/// the body's triangles; `kind`: kind of the body, which the error message names; `bending`: specification of the
/// bending stiffness B. Throws Error (input) if a side has more than two triangles. Collective.
std::unique_ptr<ForceTerm> make_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                       const std::string& kind, const ParameterSpec& bending);

}  // namespace diffsim
