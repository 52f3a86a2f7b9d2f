// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the force term of the bending of shells. `triangles`: local indices of the shell's triangles. The energy of
/// the force term is the bending energy of a Kirchhoff plate for the difference between the curvature of the shell and
/// the natural curvature. The natural curvature is `shell_rest_curvature` times the curvature of the rest shape. The
/// bending stiffness of each triangle is computed from the parameters `shell_youngs_modulus`, `shell_poisson_ratio` and
/// `shell_thickness`. The slopes of the surface at the sides of triangles are computed from the vertex positions
/// (plate_rest.hpp), which are the only unknowns. Bending moments at free sides are zero. Throws Error (input) if more
/// than two triangles share a side. Collective.
std::unique_ptr<ForceTerm> make_plate_term(const TetrahedralMesh& mesh, const std::vector<int>& triangles);

}  // namespace diffsim
