// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "diffsim/dynamics/integrator.hpp"

namespace diffsim::dynamics {

/// Maximum number of stages of an explicit rule.
constexpr std::size_t max_stages = 4;

/// Explicit time integrator, given by the coefficients of a Runge-Kutta-Nyström method with s stages. A substep of
/// length h from positions x and velocities v at the time t to x' and v' at t + h is
///
///   X_i = x + c_i h v + h² Σ_{j<i} ā_ij A_j,   V_i = v + h Σ_{j<i} a_ij A_j,   A_i = a(X_i, V_i, t + c_i h),
///   v'  = d (v + h Σ_i b_i A_i),               x'  = x + h (β v + β' v') + h² Σ_i b̄_i A_i
///
/// with a(x, v, t) = M⁻¹ f + g, masses M, forces f, gravity g, and the damping factor d. X_i, V_i and A_i are the
/// positions, velocities and accelerations of stage i. All rules share one implementation of the step, of its tangent
/// and of its adjoint.
///
/// Sources: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I (1993), sections II.1 and II.14;
/// Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), section I.1.4.
struct ExplicitRule {
  using Row = std::array<double, max_stages>;
  struct Stage {
    double time = 0.0;  ///< c_i
    Row velocity{};     ///< a_ij
    Row position{};     ///< ā_ij
  };

  Integrator integrator = Integrator::symplectic_euler;
  int order = 1;
  std::vector<Stage> stages;  ///< the positions and velocities of the first stage are x and v
  Row velocity{};             ///< b_i
  Row position{};             ///< b̄_i
  double old_velocity = 0.0;  ///< β
  double new_velocity = 0.0;  ///< β'
  /// True if the parameter `damping` is the damping factor d; false if d = 1. Requires a single stage.
  bool has_damping = false;
  /// True if the positions X_s of the last stage equal the positions x' at the end of the substep. Forces of the last
  /// stage that do not depend on velocities are then also the forces of the first stage of the next substep.
  bool ends_in_last_stage = false;
};

/// All explicit rules: explicit_euler, symplectic_euler, velocity_verlet, runge_kutta_2 (midpoint), runge_kutta_4.
const std::vector<ExplicitRule>& explicit_rules();

/// Returns the rule of an explicit integrator, or nullptr if the integrator is implicit.
const ExplicitRule* find_explicit_rule(Integrator integrator);

/// Returns the largest substep h (s) for which solutions of ẍ = -κ' x - γ' ẋ do not grow for any κ' (1/s²) and γ' (1/s)
/// with 0 ≤ κ' ≤ `stiffness` and 0 ≤ γ' ≤ `damping`. Growth is judged by the eigenvalues of a substep's amplification
/// matrix for 9 × 9 values of (κ', γ'). Returns infinity if `stiffness` and `damping` are 0. Returns 0 if `stiffness`
/// is positive and, with this rule, undamped oscillations (γ' = 0) grow at any h.
double largest_stable_substep(const ExplicitRule& rule, double stiffness, double damping);

}  // namespace diffsim::dynamics
