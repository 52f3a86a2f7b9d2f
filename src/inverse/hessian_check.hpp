// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Results of the check of products with the Hessian H = ∂²L/∂u² of the loss L. v is a random direction of u over all
/// unknowns, and w = H v/‖H v‖ + r/‖r‖ with a random vector r.
struct HessianCheck {
  double symmetry = 0.0;          ///< error |⟨w, H v⟩ - ⟨v, H w⟩| / max(|⟨w, H v⟩|, |⟨v, H w⟩|)
  double product = 0.0;           ///< ⟨w, H v⟩
  double difference = 0.0;        ///< ⟨w, H v⟩ from finite differences of the derivative ⟨w, ∇L⟩ along v
  double difference_error = 0.0;  ///< bound of the error of `difference`, due to rounding noise and extrapolation
  /// Orders log2(R(ε)/R(ε/2)) of the Taylor remainder R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩ - ε²/2 ⟨v, H v⟩| of the loss
  /// L along the direction v, for three successive halvings of ε. Of all sequences of three halvings, the sequence
  /// whose orders are closest to 3 is used. The verdict does not depend on the orders.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< largest ε of `taylor_orders`
  bool quadratic = false;   ///< true: L is quadratic along v up to noise; `taylor_orders` is then empty
  /// True if products are symmetric and agree with the finite differences within the error bound of the differences,
  /// and if this bound is small enough to detect a relative error of `HessianCheckOptions::resolution`.
  bool passed = false;
};

struct HessianCheckOptions {
  double symmetry_tolerance = 1e-10;  ///< largest allowed `symmetry`, or 10 × `Model::solver_tolerance` if larger
  double resolution = 1e-3;           ///< `product` passes only if finite differences can detect this relative error
  bool differences = true;            ///< false: only the symmetry is tested
  unsigned seed = 1;
};

/// Tests products with the Hessian at `u`. Throws Error (input) if a part of the model has no second derivatives; the
/// message names this part. Collective.
HessianCheck check_hessian(InverseProblem& problem, const std::vector<double>& u,
                           const HessianCheckOptions& options = {});

}  // namespace diffsim
