// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Makes a term that is evaluated at the positions x_n that a step begins with and at the velocities v of the step:
/// f(x_n, v, p), as the lagged friction of Li et al. (2020), section 5.5, with one iteration of the lag.
///
/// The derivatives are those of f(x_n, v, p): x̄_n += (∂f/∂x)ᵀ w goes to the state that the step begins with, and the
/// step's Jacobian has ∂f/∂v alone. With f = -∂D/∂v (`ForceTerm::has_dissipation`) that Jacobian is symmetric, and the
/// incremental potential has the part D(x_n, v(y)) / (∂v/∂y), y the new positions. Explicit steps evaluate forces at
/// x_n in any case.
std::unique_ptr<ForceTerm> make_lagged_term(std::unique_ptr<ForceTerm> term);

}  // namespace diffsim
