// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Verdict on one unknown's derivatives.
enum class CheckVerdict {
  passed,
  independent,  ///< the loss does not depend on the unknown: no failure
  unresolved,   ///< noise, or a gradient that has exploded, hides whether the derivatives are right: no pass
  failed
};

/// Word for a verdict, as reports have it.
const char* to_string(CheckVerdict verdict);

/// Figures of one unknown's derivatives, along a random direction v of that unknown alone, of the unknown's own size.
struct UnknownCheck {
  std::string name;
  CheckVerdict verdict = CheckVerdict::failed;
  bool passed = false;  ///< verdict is passed or independent
  std::string note;     ///< remark for the reader of the verdict; may be empty

  /// |⟨J v, w⟩ - ⟨v, Jᵀw⟩| / |⟨J v, w⟩|, J = ∂x[N]/∂u over the whole rollout, w random.
  double dot_product_error = 0.0;
  double slope = 0.0;       ///< ⟨∇L, v⟩
  double difference = 0.0;  ///< the same slope from differences of L
  /// Bound of the error of `difference`: what noise and the extrapolation of differences leave; infinite where L could
  /// not be evaluated on both sides.
  double difference_error = 0.0;
  double noise = 0.0;          ///< standard deviation of L by rounding, carried through the rollout
  double solver_effect = 0.0;  ///< how much the solver's tolerance changes `slope`
  /// How many times its own size x[N] moves, were the motion linear, when the unknown changes by its own size.
  double amplification = 0.0;

  /// Orders log2(R(ε)/R(ε/2)) of R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩| over successive halvings, of the window closest
  /// to 2. The verdict does not rest on them.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< ε at which that window begins
  bool linear = false;      ///< L is linear along v to its noise: there is no remainder to measure
};

struct GradientCheckOptions {
  double dot_product_tolerance = 1e-12;  ///< at least ten times the Model's solver_tolerance
  double slope_tolerance = 1e-8;         ///< of slope and difference, relative, where noise shows as much
  double resolution = 1e-3;  ///< a slope passes only where differences would show an error of this part of it
  bool differences = true;   ///< false: dot products alone
  unsigned seed = 1;
};

/// Tests the derivatives by each unknown by itself, at `u`. The Model's solver is tightened meanwhile, so that what is
/// compared are derivatives and not the solver's tolerance, whose effect is a figure of its own. Collective.
std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options = {});

}  // namespace diffsim
