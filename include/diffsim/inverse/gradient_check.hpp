// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// What the tests of one unknown's derivatives showed.
struct UnknownCheck {
  std::string name;
  /// |⟨J v, w⟩ - ⟨v, Jᵀw⟩| / |⟨J v, w⟩|, J = ∂x[N]/∂u over the whole rollout, v random in the unknown, w random;
  /// the largest of the directions v that were tried.
  double dot_product_error = 0.0;
  /// Orders log2(R(ε)/R(ε/2)) of R(ε) = |L(u + εv) - L(u) - ε ⟨∇L, v⟩| over successive halvings, of the window closest
  /// to 2, along the last of up to three directions: one of hardly any curvature shows a higher order.
  std::vector<double> taylor_orders;
  double first_step = 0.0;  ///< ε at which that window begins
  bool linear = false;      ///< L is linear along v to rounding: there is no second-order remainder to measure
  bool passed = false;
};

struct GradientCheckOptions {
  double dot_product_tolerance = 1e-12;  ///< at least ten times the Model's solver_tolerance
  double taylor_tolerance = 0.05;        ///< on |order - 2|
  int halvings = 4;                      ///< that must all show it
  int max_halvings = 26;
  unsigned seed = 1;
};

/// Tests the derivatives by each unknown at `u`. Collective.
std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options = {});

/// |⟨J v, w⟩ - ⟨v, Jᵀw⟩| / |⟨J v, w⟩| as in UnknownCheck, v random in all unknowns together. Collective.
double check_dot_product(InverseProblem& problem, const std::vector<double>& u, unsigned seed = 1);

}  // namespace diffsim
