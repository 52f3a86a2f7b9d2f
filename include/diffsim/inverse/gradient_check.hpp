// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Verdict of the check of the derivatives with respect to one unknown.
enum class CheckVerdict {
  passed,       ///< the errors of the derivatives are within the tolerances
  independent,  ///< not a failure: the loss does not depend on the unknown
  /// Finite differences can neither confirm nor refute the derivatives, because of rounding noise, failed rollouts, or
  /// an `UnknownCheck::amplification` of 1e4 or more. `UnknownCheck::passed` is then false.
  unresolved,
  failed  ///< an error of a derivative exceeds its tolerance, or the gradient is not finite
};

/// Name of a verdict, as used in reports.
const char* to_string(CheckVerdict verdict);

/// Results of the check of the derivatives with respect to one unknown, along a random direction v. The direction v
/// changes only the values of the checked unknown; the entries of v are about as large as the largest of these values,
/// or about 1 for a logarithmic unknown.
struct UnknownCheck {
  std::string name;                             ///< name of the unknown (`Unknown::name`)
  CheckVerdict verdict = CheckVerdict::failed;  ///< verdict of the check of the derivatives with respect to the unknown
  bool passed = false;                          ///< true if the verdict is `passed` or `independent`
  std::string note;                             ///< remark on the verdict; may be empty

  /// Difference of the dot products ⟨J v, w⟩ and ⟨v, Jᵀw⟩, divided by the larger magnitude of the two products. J =
  /// ∂x[N]/∂u is the Jacobian of the final state x[N] with respect to the unknowns u, v is the random direction of u,
  /// and w is a random vector of the size of x[N]. NaN if J v is not available, for example because a link of the
  /// program has no tangent; only finite differences then test the derivatives, and `note` says why.
  double dot_product_error = 0.0;
  double slope = 0.0;  ///< derivative ⟨∇L, v⟩ of the loss L along the direction v, with ∇L from the adjoint
  double difference = 0.0;  ///< derivative ⟨∇L, v⟩ of the loss L along the direction v, from finite differences of L
  /// Bound of the error of `difference`, which is extrapolated to ε = 0 from finite differences with steps εv. The
  /// bound covers rounding noise and the error of the extrapolation, and is infinite if too few rollouts at u ± εv
  /// succeed.
  double difference_error = 0.0;
  double noise = 0.0;          ///< standard deviation of the loss due to rounding errors
  double solver_effect = 0.0;  ///< magnitude of the change of `slope` if the given solver tolerance is reduced
  /// Linearised relative change ‖J v‖ / ‖x[N]‖ of the final positions if the unknowns u change by v, where J =
  /// ∂x[N]/∂u, and both norms are over the positions in the final state x[N] only. NaN if J v is not available.
  double amplification = 0.0;

  /// Orders log2(R(ε)/R(ε/2)) of the Taylor remainder R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩| of the loss L along the
  /// direction v. The order is 2 for an exact gradient. Of all sequences of four successive halvings of ε,
  /// `taylor_orders` contains the orders of the sequence whose orders are closest to 2. The verdict does not depend on
  /// the orders.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< largest ε of `taylor_orders`
  bool linear = false;      ///< true if the loss L is linear along v up to noise; `taylor_orders` is then empty
};

/// Options of `check_gradient`.
struct GradientCheckOptions {
  /// Tolerance of `UnknownCheck::dot_product_error`; the check uses the maximum of `dot_product_tolerance` and 10 ×
  /// `Model::solver_tolerance`.
  double dot_product_tolerance = 1e-12;
  /// Largest allowed relative error of `UnknownCheck::slope`. Absolute errors of `slope` up to 10 × `difference_error`
  /// are always allowed.
  double slope_tolerance = 1e-8;
  /// Relative error of `slope` that finite differences must be able to detect for the verdict `passed`.
  double resolution = 1e-3;
  bool differences = true;  ///< true: finite differences are computed; false: only `dot_product_error` is tested
  unsigned seed = 1;        ///< seed of the random vectors v and w of UnknownCheck
};

/// Tests the derivatives of the final state and of the loss with respect to each unknown separately, at the point `u`.
/// The tolerance of the Model's solver is reduced during the check, so that errors of the solver do not hide errors of
/// the derivatives. `UnknownCheck::solver_effect` reports the effect of the given tolerance. Throws Error (input) if
/// J v is not available and `options.differences` is false. Collective.
std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options = {});

}  // namespace diffsim
