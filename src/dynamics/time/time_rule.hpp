// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/dynamics/integrator.hpp"

namespace diffsim::dynamics {

/// Coefficients of the linear combination c_y y + Σ_k c_k s_k, where y are the positions at the end of a step, and s_k
/// are the fields of the state at the beginning. `y` is c_y, `state[k]` is c_k.
struct Combination {
  double y = 0.0;
  std::vector<double> state;
};

/// Implicit time integrator, given by coefficients. A step solves the following equation for the free components of the
/// positions y at the end of the step:
///
///   M a(y) = f(x(y), v(y), p) + M g
///
/// M are masses, f forces, p parameters and g is gravity. The accelerations a, positions x and velocities v are linear
/// combinations of y and the fields of the state at the beginning of the step. The fields of the state at the end are
/// such linear combinations, too. All integrators share one implementation of the step, of its tangent and of its
/// adjoint.
struct TimeRule {
  std::vector<std::string> fields;  ///< names of the state's fields, `positions` and `velocities` first
  Combination acceleration;         ///< a(y); all coefficients are zero in statics
  Combination position;             ///< x(y), the positions at which forces are evaluated
  Combination velocity;             ///< v(y), the velocities at which forces are evaluated
  std::vector<Combination> next;    ///< value of each field at the end of the step
};

/// Returns the coefficients for step n of length h. x_n, v_n and a_n are positions, velocities and accelerations at the
/// beginning of the step; x_{n-1} and v_{n-1} are values at the beginning of the previous step.
///
/// - `quasi_static`: M a is omitted; rate-dependent forces use v = (y - x_n)/h.
/// - `implicit_euler`: v = (y - x_n)/h, a = (v - v_n)/h.
/// - `bdf2`: v = (3y - 4x_n + x_{n-1})/2h, a = (3v - 4v_n + v_{n-1})/2h; step 0 is a step of implicit Euler.
/// - `newmark` (Newmark 1959): y = x_n + h v_n + h²((½-β) a_n + β a), v = v_n + h((1-γ) a_n + γ a).
/// - `generalised_alpha` (Chung & Hulbert 1993, eqs. 6-10, 17, 25): y, v and a at the end of the step are related by
///   Newmark's formulas. The equation of motion holds for the accelerations (1-α_m) a + α_m a_n, with forces evaluated
///   at the positions (1-α_f) y + α_f x_n. α_m, α_f, β and γ follow from `ImplicitOptions::spectral_radius`.
///
/// Step 0 of `newmark` and `generalised_alpha` uses β = ½, γ = 1, α_m = α_f = 0; with these values the step does not
/// depend on a_0. The error of step 0 is of third order in h for positions and of second order for velocities. The
/// global order remains 2, because no other step has this error.
TimeRule make_time_rule(Integrator integrator, const ImplicitOptions& options, double h, int n);

}  // namespace diffsim::dynamics
