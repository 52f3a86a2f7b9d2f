// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Verdict on one unknown's derivatives.
enum class CheckVerdict {
  passed,       ///< the errors of the derivatives are within the tolerances
  independent,  ///< the loss does not depend on the unknown; not a failure
  /// Finite differences can neither confirm nor refute the derivatives, because of rounding noise, failed rollouts, or
  /// an `UnknownCheck::amplification` of 1e4 or more. `UnknownCheck::passed` is then false.
  unresolved,
  failed  ///< an error of a derivative is above its tolerance
};

/// Name of a verdict, as used in reports.
const char* to_string(CheckVerdict verdict);

/// Results of the check of one unknown's derivatives. Derivatives are taken along a random direction v. The direction v
/// changes this unknown only; the entries of v have the magnitude of the unknown's values.
struct UnknownCheck {
  std::string name;                             ///< name of the unknown (`Unknown::name`)
  CheckVerdict verdict = CheckVerdict::failed;  ///< result of the check of this unknown
  bool passed = false;                          ///< true: verdict is passed or independent
  std::string note;                             ///< remark on the verdict; may be empty

  /// Difference of ⟨J v, w⟩ and ⟨v, Jᵀw⟩, divided by the larger magnitude of the two products. J = ∂x[N]/∂u is the
  /// derivative of the final state x[N] with respect to the unknowns u, v is the random direction of u, and w is a
  /// random vector of the size of x[N].
  double dot_product_error = 0.0;
  double slope = 0.0;       ///< derivative ⟨∇L, v⟩ of the loss L along v, with ∇L from the adjoint
  double difference = 0.0;  ///< derivative ⟨∇L, v⟩ of the loss L along v, from finite differences of L
  /// Bound of the error of `difference`, which is extrapolated from finite differences with the steps εv to ε = 0. The
  /// bound covers rounding noise and the error of the extrapolation. The bound is infinite if too few rollouts at u ±
  /// εv succeed.
  double difference_error = 0.0;
  double noise = 0.0;          ///< standard deviation of the loss due to rounding errors
  double solver_effect = 0.0;  ///< |difference| of `slope` between the given and the reduced solver tolerance
  /// Linearised relative change of the final positions if u changes by v: ‖J v‖ / ‖x[N]‖, where both norms are over the
  /// positions only. The magnitude of v is about that of the unknown's values.
  double amplification = 0.0;

  /// Orders log2(R(ε)/R(ε/2)) of the Taylor remainder R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩| of the loss L along the
  /// direction v, for four successive halvings of ε. The order is 2 for an exact gradient. Of all sequences of four
  /// halvings, the sequence whose orders are closest to 2 is used. The verdict does not depend on the orders.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< largest ε of `taylor_orders`
  bool linear = false;      ///< true: L is linear along v up to noise; `taylor_orders` is then empty
};

/// Options of `check_gradient`.
struct GradientCheckOptions {
  /// Largest allowed `dot_product_error`, or 10 × `Model::solver_tolerance` if that is larger.
  double dot_product_tolerance = 1e-12;
  /// Largest allowed relative error of `slope`. Absolute errors up to 10 × `difference_error` are always allowed.
  double slope_tolerance = 1e-8;
  double resolution = 1e-3;  ///< `slope` passes only if finite differences can detect this relative error
  bool differences = true;   ///< false: only the dot products are tested
  unsigned seed = 1;         ///< seed of the random directions and states
};

/// Tests the derivatives of the final state and of the loss with respect to each unknown separately, at the point `u`.
/// The tolerance of the Model's solver is reduced during the check, so that the tolerance does not hide errors of the
/// derivatives. `UnknownCheck::solver_effect` reports the effect of the given tolerance. Collective.
std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options = {});

}  // namespace diffsim
