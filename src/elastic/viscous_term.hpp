// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Returns the force term of Kelvin–Voigt viscosity. The term acts in addition to the force term of a law of
/// elasticity. F is the deformation gradient, Ḟ its rate, Ė the Green strain rate, P the first Piola stress, and S the
/// second Piola stress of a Newtonian dashpot (Bonet & Wood 2008, sec. 6.5). The stress is objective. For small
/// strains, S is the stress σ = 2 η ε̇ + ζ tr ε̇ I with the small-strain rate ε̇.
///
///   Ė = sym(Fᵀ Ḟ),   S = 2 η Ė + ζ tr Ė I,   P = F S;   dissipated power per rest volume: S : Ė ≥ 0
///
/// | parameter (cell)  | symbol | unit | range |
/// |-------------------|--------|------|-------|
/// | viscosity         | η      | Pa s | ≥ 0   |
/// | bulk_viscosity    | ζ      | Pa s | ≥ 0   |
///
/// ζ is the second coefficient of viscosity. The ratio of tr σ/3 to tr ε̇, which is usually called the bulk viscosity,
/// is ζ + 2/3 η, because tr σ = (2 η + 3 ζ) tr ε̇. The stress S is defined for every F. The term accepts every kind of
/// tetrahedral cell. The parameter `rest_positions` is an additional input.
std::unique_ptr<ForceTerm> make_viscous_term(const TetrahedralMesh& mesh);

}  // namespace diffsim
