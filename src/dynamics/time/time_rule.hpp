// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/dynamics/integrator.hpp"

namespace diffsim::dynamics {

/// Coefficients c_y (member `y`) and c_k (member `state[k]`) of the linear combination c_y y + Σ_k c_k s_k, where y are
/// the positions at the end of a step, and s_k are the fields of the state at the beginning of the step.
struct Combination {
  double y = 0.0;
  std::vector<double> state;
};

/// Implicit time integrator, given by coefficients of linear combinations. The free components of the positions y at
/// the end of a step solve the equation
///   M a(y) = f(y, v(y), p) + λ M g
/// with masses M, forces f, parameters p, load factor λ and gravity g, in which the accelerations a and velocities v at
/// the end of the step are linear combinations of y and of the fields of the state at the beginning of the step. The
/// fields of the state at the end of a step are linear combinations of the positions y at the end of the step and of
/// the fields of the state at the beginning of the step. All implicit integrators share one implementation of the step,
/// its tangent and its adjoint.
struct TimeRule {
  std::vector<std::string> fields;  ///< names of the state's fields, `positions` and `velocities` first
  // Coefficients of linear combinations of y and of the fields of the state at the beginning of the step:
  Combination acceleration;       ///< accelerations a; all coefficients are zero in statics
  Combination velocity;           ///< velocities v at which forces are evaluated
  std::vector<Combination> next;  ///< linear combinations that give the fields of the state at the end of the step
};

/// Returns the coefficients of an implicit integrator for step n of length h.
///
/// With the step length h, the positions y, velocities v and accelerations a at the end of step n, the positions x_n,
/// velocities v_n and accelerations a_n at the beginning of step n, and the positions x_{n-1} and velocities v_{n-1} at
/// the beginning of step n - 1, the integrators are:
/// - `quasi_static`: inertia M a is omitted; rate-dependent forces use v = (y - x_n)/h.
/// - `implicit_euler`: v = (y - x_n)/h, a = (v - v_n)/h.
/// - `bdf2`: v = (3y - 4x_n + x_{n-1})/2h, a = (3v - 4v_n + v_{n-1})/2h; step 0 is a step of implicit Euler.
/// - `newmark` (Newmark 1959, with β and γ of `ImplicitOptions`): y = x_n + h v_n + h²((½-β) a_n + β a),
///   v = v_n + h((1-γ) a_n + γ a).
/// - `generalised_alpha` (Chung & Hulbert 1993, in the form of Arnold & Brüls 2007 for systems with constraints): y, v
///   and the auxiliary accelerations b satisfy Newmark's formulas with b instead of a, and
///   (1-α_m) b + α_m b_n = (1-α_f) a + α_f a_n. α_m, α_f, β and γ follow from `ImplicitOptions::spectral_radius`
///   (Chung & Hulbert 1993, eqs. 17 and 25).
///
/// Step 0 of `newmark` and `generalised_alpha` uses the coefficients β = ½, γ = 1, α_m = α_f = 0, with which the result
/// of the step does not depend on the initial accelerations a_0 and b_0. The error of step 0 is of third order in the
/// step length h for positions and of second order for velocities. The global order of both integrators (of `newmark`
/// for γ = ½) remains 2, because only step 0 has an error of second order.
TimeRule make_time_rule(Integrator integrator, const ImplicitOptions& options, double h, int n);

}  // namespace diffsim::dynamics
