// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/dynamics/implicit_options.hpp"

namespace diffsim::dynamics {

/// y_coefficient · y + Σ_k state[k] · s_k, y the new positions and s_k the fields of the state a step begins with.
struct Combination {
  double y = 0.0;
  std::vector<double> state;
};

/// An implicit time integrator as a table. A step finds y with
///
///   M a(y) = f(x(y), v(y), p) + M g    in the components that are free,
///
/// where a, x, v are combinations of y and the state's fields; then the fields of the new state are combinations too.
/// So one program steps, differentiates and reverses them all.
struct TimeRule {
  std::vector<std::string> fields;  ///< of the state, `positions` and `velocities` first
  Combination acceleration;         ///< all zero in statics
  Combination position;             ///< where forces are evaluated
  Combination velocity;             ///< velocities there
  std::vector<Combination> next;    ///< of each field
};

/// The table for step n with time step h.
///
/// - `quasi_static`: M a is left out; v = (y - x)/h is what rate-dependent forces see.
/// - `implicit_euler`: v = (y - x_n)/h, a = (v - v_n)/h.
/// - `bdf2`: v = (3y - 4x_n + x_{n-1})/2h, a = (3v - 4v_n + v_{n-1})/2h; step 0 is one of implicit Euler.
/// - `newmark` (Newmark 1959): y = x_n + h v_n + h²((½-β) a_n + β a), v = v_n + h((1-γ) a_n + γ a).
/// - `generalised_alpha` (Chung & Hulbert 1993, eqs. 6-10, 17, 25): with Newmark's formulas for x, v, a at n+1, the
///   equation of motion holds for (1-α_m) a + α_m a_n, and forces at (1-α_f) y + α_f x_n.
///
/// Step 0 of the last two takes β = ½, γ = 1, α = 0, which does not involve a_0: its error in x is of third, in v of
/// second order in h, once, so the order of the whole stays 2.
TimeRule make_time_rule(const ImplicitOptions& options, double h, int n);

}  // namespace diffsim::dynamics
