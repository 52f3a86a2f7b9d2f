// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Makes the bending of shells of the triangles given, local: the energy of Kirchhoff's plate in the curvature against
/// that at rest, with moduli `shell_youngs_modulus`, `shell_poisson_ratio` and `shell_thickness` of each triangle;
/// `shell_rest_curvature` times that at rest is the curvature without forces. Slopes of the surface at the triangles'
/// sides follow from the vertices alone (plate_rest.hpp); bending moments at free sides are zero. No side may have
/// three triangles; see `require_manifold`. Collective.
std::unique_ptr<ForceTerm> make_plate_term(const TetrahedralMesh& mesh, const std::vector<int>& triangles);

}  // namespace diffsim
