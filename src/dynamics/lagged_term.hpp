// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Creates a term that evaluates `term` at the positions x_n at the beginning of a step and at the velocities v of the
/// step: f(x_n, v, p). An example is the lagged friction of Li et al. (2020), section 5.5, with a single lagging
/// iteration.
///
/// The created term has the derivatives of f(x_n, v, p). The adjoint (∂f/∂x)ᵀ w is added to x̄_n, the adjoint of the
/// positions at the beginning of the step. The Jacobian of the step contains ∂f/∂v only. If f = -∂D/∂v
/// (`ForceTerm::has_dissipation`), the Jacobian is symmetric, and the incremental potential contains D(x_n, v(y)) /
/// (∂v/∂y), where y are the new positions. Explicit steps do not provide x_n, so the term is then evaluated at the
/// positions of each stage.
std::unique_ptr<ForceTerm> make_lagged_term(std::unique_ptr<ForceTerm> term);

}  // namespace diffsim
