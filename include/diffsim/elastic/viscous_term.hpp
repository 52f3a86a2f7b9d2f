// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Kelvin–Voigt viscosity, parallel to whatever law is there: the second Piola stress of a Newtonian dashpot in the
/// Green strain rate (Bonet & Wood 2008, sec. 6.5), objective, and the small-strain σ = 2 η ε̇ + ζ tr ε̇ I at rest.
///
///   Ė = sym(Fᵀ Ḟ),   S = 2 η Ė + ζ tr Ė I,   P = F S;   power S : Ė ≥ 0
///
/// | parameter (cell)  | symbol | unit | range |
/// |-------------------|--------|------|-------|
/// | viscosity         | η      | Pa s | ≥ 0   |
/// | bulk_viscosity    | ζ      | Pa s | ≥ 0   |
///
/// Defined for any F; works on Tet4 and Tet10 cells alike. It takes `rest_positions` too.
std::unique_ptr<ForceTerm> make_viscous_term(const TetrahedralMesh& mesh);

}  // namespace diffsim
