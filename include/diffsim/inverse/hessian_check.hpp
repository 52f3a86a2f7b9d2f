// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Figures of products with the Hessian H = ∂²L/∂u², in random directions v and w over all unknowns.
struct HessianCheck {
  double symmetry = 0.0;          ///< |⟨w, H v⟩ - ⟨v, H w⟩| / |⟨w, H v⟩|
  double product = 0.0;           ///< ⟨w, H v⟩
  double difference = 0.0;        ///< the same from differences of ⟨w, ∇L⟩ along v
  double difference_error = 0.0;  ///< bound of the error of `difference`: what noise and extrapolation leave
  /// Orders log2(R(ε)/R(ε/2)) of R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩ - ε²/2 ⟨v, H v⟩| over successive halvings, of the
  /// window closest to 3. The verdict does not rest on them.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< ε at which that window begins
  bool quadratic = false;   ///< L is quadratic along v to its noise: there is no third-order remainder to measure
  /// Symmetric, and as differences have it, to what noise leaves, which is little.
  bool passed = false;
};

struct HessianCheckOptions {
  double symmetry_tolerance = 1e-10;  ///< at least ten times the Model's solver_tolerance
  double resolution = 1e-3;           ///< passed only where differences would show an error of this part
  bool differences = true;            ///< false: symmetry alone
  unsigned seed = 1;
};

/// Tests products with the Hessian at `u`. Throws Error (input) naming what has no second derivatives. Collective.
HessianCheck check_hessian(InverseProblem& problem, const std::vector<double>& u,
                           const HessianCheckOptions& options = {});

}  // namespace diffsim
