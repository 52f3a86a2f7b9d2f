// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Creates a term that evaluates the forces f of `term` at the positions x_n at the beginning of a step and at the
/// velocities v of the step: f(x_n, v, p) with the parameters p. An example is the lagged friction of Li et al. (2020),
/// section 5.5, with a single lagging iteration.
///
/// The created term has the derivatives of f(x_n, v, p). For an adjoint w of the forces, (∂f/∂x_n)ᵀ w is added to the
/// adjoint of x_n. The Jacobian of the step contains ∂f/∂v only. If f = -∂D/∂v with a dissipation potential D
/// (`ForceTerm::has_dissipation`), this Jacobian is symmetric, and the incremental potential contains D(x_n, v(y)) /
/// (∂v/∂y), where y are the new positions. Explicit steps evaluate the term at the positions of each stage instead of
/// x_n.
std::unique_ptr<ForceTerm> make_lagged_term(std::unique_ptr<ForceTerm> term);

}  // namespace diffsim
