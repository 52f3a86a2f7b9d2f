// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// What the tests of products with the Hessian H = ∂²L/∂u² showed, in random directions v and w over all unknowns.
struct HessianCheck {
  double symmetry = 0.0;  ///< |⟨w, H v⟩ - ⟨v, H w⟩| / |⟨w, H v⟩|
  /// Orders log2(R(ε)/R(ε/2)) of R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩ - ε²/2 ⟨v, H v⟩| over successive halvings, of the
  /// window closest to 3.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< ε at which that window begins
  bool quadratic = false;   ///< L is quadratic along v to rounding: there is no third-order remainder to measure
  bool passed = false;
};

struct HessianCheckOptions {
  double symmetry_tolerance = 1e-10;  ///< at least ten times the Model's solver_tolerance
  double taylor_tolerance = 0.1;      ///< on |order - 3|
  int halvings = 3;                   ///< that must all show it
  int max_halvings = 20;
  unsigned seed = 1;
};

/// Tests products with the Hessian at `u`. Throws Error (input) naming what has no second derivatives. Collective.
HessianCheck check_hessian(InverseProblem& problem, const std::vector<double>& u,
                           const HessianCheckOptions& options = {});

}  // namespace diffsim
