// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Results of the check of products with the Hessian H = ∂²L/∂u² of the loss L, for a random direction v of all
/// unknowns u and the vector w = H v/‖H v‖ + r/‖r‖ with a random vector r.
struct HessianCheck {
  /// Relative error of the symmetry of the Hessian H for vectors v and w:
  ///   |⟨w, H v⟩ - ⟨v, H w⟩| / max(|⟨w, H v⟩|, |⟨v, H w⟩|).
  double symmetry = 0.0;
  /// Product ⟨w, H v⟩ of the Hessian H with vectors v and w, from `InverseProblem::hessian_product`.
  double product = 0.0;
  /// Product ⟨w, H v⟩ of the Hessian H of the loss L with vectors v and w, from finite differences of ⟨w, ∇L⟩ along v.
  double difference = 0.0;
  /// Bound of the error of the finite difference `difference` due to rounding noise and extrapolation.
  double difference_error = 0.0;
  /// Orders log2(R(ε)/R(ε/2)) of the Taylor remainder R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩ - ε²/2 ⟨v, H v⟩| of the loss
  /// L with the Hessian H along the direction v, for three successive halvings of ε. Of all sequences of three
  /// successive halvings, the sequence whose orders are closest to 3 is used. The result `passed` does not depend on
  /// `taylor_orders`.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< largest ε of `taylor_orders`
  bool quadratic = false;   ///< true, with empty `taylor_orders`, if the loss is quadratic along v up to noise
  /// True if `symmetry` does not exceed its limit and, unless `HessianCheckOptions::differences` is false, if `product`
  /// and `difference` agree: |`product` - `difference`| ≤ e ≤ `HessianCheckOptions::resolution` · |`product`|, with e =
  /// max(10 `difference_error`, 1e-8 |`product`|). The limit of e is larger if `product` is close to 0.
  bool passed = false;
};

struct HessianCheckOptions {
  /// Largest allowed value of `HessianCheck::symmetry`; the limit is 10 × `Model::solver_tolerance` if this product is
  /// larger than `symmetry_tolerance`.
  double symmetry_tolerance = 1e-10;
  /// Relative error of `HessianCheck::product` that finite differences must be able to detect; if the error bound of
  /// the finite differences is too large, the check fails.
  double resolution = 1e-3;
  bool differences = true;  ///< true: compare Hessian products with finite differences; false: test only the
                            ///< symmetry of the Hessian
  unsigned seed = 1;
};

/// Tests products with the Hessian at `u`. Throws Error (input) if a part of the model has no second derivatives; the
/// message names this part. Collective.
HessianCheck check_hessian(InverseProblem& problem, const std::vector<double>& u,
                           const HessianCheckOptions& options = {});

}  // namespace diffsim
