// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Stencils of hinges: the nodes and the triangle of each stencil. A hinge is the common side of two triangles, and has
/// two stencils, one for the contribution of each of the two triangles to the bending energy.
struct HingeStencils {
  std::vector<int> vertices;  ///< [stencils, 4]: local vertices of each stencil's nodes, in the order of `HingeEnergy`
  /// Local index of the triangle whose contribution to the bending energy the stencil represents, [stencils].
  std::vector<int> triangles;
};

/// Returns the stencils of the hinges (common sides of two triangles) of a body. `triangles`: local indices of the
/// body's triangles. Throws Error (input) if more than two triangles share a side; the error message names `kind`, the
/// kind of the body, and `parameter`, the bending stiffness for which the user has given a value. Collective.
HingeStencils hinge_stencils(const TetrahedralMesh& mesh, const std::vector<int>& triangles, const std::string& kind,
                             const std::string& parameter);

/// Creates the force term of the bending energy at the common sides of the triangles of a body (`HingeEnergy`).
/// `triangles`: local indices of the body's triangles; `kind`: kind of the body, for error messages; `bending`:
/// specification of the bending stiffness. Throws Error (input) if more than two triangles share a side. Collective.
std::unique_ptr<ForceTerm> make_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                       const std::string& kind, const ParameterSpec& bending);

}  // namespace diffsim
