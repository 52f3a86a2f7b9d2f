// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Creates a lagged term, which evaluates the forces f of `term` at the positions x_n at the beginning of a step and at
/// the velocities v of the step: f(x_n, v, p) with the parameters p. An example of a lagged term is the friction of Li
/// et al. (2020), section 5.5, with a single lagging iteration.
///
/// The lagged term provides the derivatives of f(x_n, v, p) with respect to x_n, v and p. For an adjoint w of the
/// forces, the lagged term adds (∂f/∂x_n)ᵀ w to the adjoint of the positions x_n. Only ∂f/∂v contributes to the
/// Jacobian of the step. If f = -∂D/∂v with a dissipation potential D (`ForceTerm::has_dissipation`), ∂f/∂v is
/// symmetric, and the incremental potential contains D(x_n, v(y)) / (∂v/∂y), where y are the positions at the end of
/// the step. Explicit steps evaluate the lagged term at the positions of each stage instead of x_n.
std::unique_ptr<ForceTerm> make_lagged_term(std::unique_ptr<ForceTerm> term);

}  // namespace diffsim
