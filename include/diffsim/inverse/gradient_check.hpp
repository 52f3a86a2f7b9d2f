// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Verdict on one unknown's derivatives.
enum class CheckVerdict {
  passed,
  independent,  ///< the loss does not depend on the unknown; not a failure
  unresolved,   ///< rounding noise or an exploded gradient prevents a verdict; counts as not passed
  failed
};

/// Name of a verdict, as used in reports.
const char* to_string(CheckVerdict verdict);

/// Results of the check of one unknown's derivatives. Derivatives are taken along a random direction v. The direction v
/// changes this unknown only; the entries of v have the magnitude of the unknown's values.
struct UnknownCheck {
  std::string name;
  CheckVerdict verdict = CheckVerdict::failed;
  bool passed = false;  ///< true: verdict is passed or independent
  std::string note;     ///< remark on the verdict; may be empty

  /// Difference of ⟨J v, w⟩ and ⟨v, Jᵀw⟩, divided by the larger magnitude of the two products. J is the derivative
  /// ∂x[N]/∂u of the final state, v is the direction, and w is a random state.
  double dot_product_error = 0.0;
  double slope = 0.0;       ///< ⟨∇L, v⟩, with ∇L from the adjoint
  double difference = 0.0;  ///< ⟨∇L, v⟩ from finite differences of L
  /// Bound of the error of `difference` that is caused by noise and by the extrapolation of differences. The bound is
  /// infinite if too few rollouts at u ± εv succeed for a finite difference.
  double difference_error = 0.0;
  double noise = 0.0;          ///< standard deviation of L due to rounding errors that the rollout propagates
  double solver_effect = 0.0;  ///< difference of `slope` between the given and the tightened tolerance of the solver
  /// Linearised relative change of the final positions if the unknown changes by v, which is about as large as the
  /// unknown: ‖J v‖ / ‖x[N]‖, where both norms are over the positions only.
  double amplification = 0.0;

  /// Taylor orders log2(R(ε)/R(ε/2)) of R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩| over successive halvings of ε, in the
  /// window of halvings whose orders are closest to 2. The verdict does not depend on the orders.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< ε at the beginning of the window of `taylor_orders`
  bool linear = false;      ///< true: L is linear along v up to noise; `taylor_orders` is then empty
};

struct GradientCheckOptions {
  double dot_product_tolerance =
      1e-12;                      ///< for `dot_product_error`; at least 10 × the Model's solver_tolerance is allowed
  double slope_tolerance = 1e-8;  ///< relative error of `slope`; at least 10 × `difference_error` is allowed
  double resolution = 1e-3;       ///< a slope passes only if the finite differences can detect this relative error
  bool differences = true;        ///< false: only the dot products are tested
  unsigned seed = 1;
};

/// Tests the derivatives with respect to each unknown separately, at `u`. The tolerance of the Model's solver is
/// reduced during the check, so that the tolerance does not hide errors of the derivatives.
/// `UnknownCheck::solver_effect` reports the effect of the given tolerance. Collective.
std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options = {});

}  // namespace diffsim
