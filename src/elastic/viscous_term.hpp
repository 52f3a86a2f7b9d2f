// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Returns the force term of Kelvin–Voigt viscosity, which acts in addition to the force term of a law of elasticity.
/// Let F be the deformation gradient and Ḟ its time derivative. The Green strain rate Ė, the second Piola stress S and
/// the first Piola stress P of a Newtonian dashpot are
///   Ė = sym(Fᵀ Ḟ),   S = 2 η Ė + ζ tr Ė I,   P = F S
/// with the viscosities η and ζ (Bonet & Wood 2008, sec. 6.5). The viscous stress is objective, and the dissipated
/// power per rest volume is S : Ė ≥ 0. For small strains, the second Piola stress S is the stress σ = 2 η ε̇ + ζ tr ε̇ I
/// with the rate ε̇ of the small-strain tensor.
///
/// | parameter (cell)  | symbol | unit | range |
/// |-------------------|--------|------|-------|
/// | viscosity         | η      | Pa s | ≥ 0   |
/// | bulk_viscosity    | ζ      | Pa s | ≥ 0   |
///
/// The parameter ζ is the second coefficient of viscosity. The usual bulk viscosity, the ratio of tr σ/3 to the rate tr
/// ε̇ of the volumetric strain, is ζ + 2/3 η, because tr σ = (2 η + 3 ζ) tr ε̇. The viscous stress is defined for every
/// deformation gradient F, also for det F ≤ 0. The force term of viscosity supports every type of tetrahedral cell, and
/// depends on the parameters `viscosity`, `bulk_viscosity` and `rest_positions`.
std::unique_ptr<ForceTerm> make_viscous_term(const TetrahedralMesh& mesh);

}  // namespace diffsim
