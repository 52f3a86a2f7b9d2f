// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Returns the force term of Kelvin–Voigt viscosity, acting in parallel with any law of elasticity. The second Piola
/// stress is that of a Newtonian dashpot in the Green strain rate (Bonet & Wood 2008, sec. 6.5). The term is objective.
/// At the rest shape the stress is that of the small-strain law, σ = 2 η ε̇ + ζ tr ε̇ I.
///
///   Ė = sym(Fᵀ Ḟ),   S = 2 η Ė + ζ tr Ė I,   P = F S;   power S : Ė ≥ 0
///
/// | parameter (cell)  | symbol | unit | range |
/// |-------------------|--------|------|-------|
/// | viscosity         | η      | Pa s | ≥ 0   |
/// | bulk_viscosity    | ζ      | Pa s | ≥ 0   |
///
/// Defined for every F and every kind of tetrahedral cell. Additional input: the parameter `rest_positions`.
std::unique_ptr<ForceTerm> make_viscous_term(const TetrahedralMesh& mesh);

}  // namespace diffsim
