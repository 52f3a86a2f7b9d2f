// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "diffsim/dynamics/integrator.hpp"

namespace diffsim::dynamics {

/// Maximum number of stages of an explicit time integrator.
constexpr std::size_t max_stages = 4;

/// Explicit time integrator, given by the coefficients of a Runge-Kutta-Nyström method with s stages. A substep of
/// length h from positions x and velocities v at the time t to positions x' and velocities v' at the time t + h
/// computes
///   X_i = x + c_i h v + h² Σ_{j<i} ā_ij A_j,   V_i = v + h Σ_{j<i} a_ij A_j,   A_i = a(X_i, V_i, t + c_i h),
///   v'  = d (v + h Σ_i b_i A_i),               x'  = x + h (β v + β' v') + h² Σ_i b̄_i A_i,
/// where X_i, V_i and A_i are the positions, velocities and accelerations of stage i, a(x, v, t) = M⁻¹ f + g are
/// accelerations with masses M, forces f and gravity g, d is the damping factor, and c_i, a_ij, ā_ij, b_i, b̄_i, β and
/// β' are the coefficients of the method.
///
/// All explicit integrators share one implementation of the step, one of the step's tangent and one of the step's
/// adjoint.
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
  std::vector<Stage> stages;  ///< stages in order; the first stage has the state at the start of the substep
  Row velocity{};             ///< b_i
  Row position{};             ///< b̄_i
  double old_velocity = 0.0;  ///< β
  double new_velocity = 0.0;  ///< β'
  /// True if each substep multiplies the velocities by the damping factor d, the parameter `damping`; false if d = 1.
  /// An integrator whose `has_damping` is true must have a single stage.
  bool has_damping = false;
  /// True if the positions of the last stage equal the positions at the end of the substep, before impacts. If
  /// `ends_in_last_stage` is true and no force depends on velocities, the forces of the last stage are also the forces
  /// of the first stage of the next substep.
  bool ends_in_last_stage = false;
};

/// Returns the coefficients of all explicit integrators: explicit_euler, symplectic_euler, velocity_verlet,
/// runge_kutta_2 (midpoint), runge_kutta_4.
const std::vector<ExplicitRule>& explicit_rules();

/// Returns the coefficients of an explicit integrator, or nullptr if the integrator is implicit.
const ExplicitRule* find_explicit_rule(Integrator integrator);

/// Returns the largest substep h (s) for which the solutions of ẍ = -κ' x - γ' ẋ by the integrator `rule` do not grow
/// for any κ' (1/s²) and γ' (1/s) with 0 ≤ κ' ≤ `stiffness` and 0 ≤ γ' ≤ `damping`. The stability of a substep is
/// tested by the eigenvalues of the substep's amplification matrix for 9 × 9 pairs (κ', γ'). Returns infinity if
/// `stiffness` and `damping` are 0. Returns 0 if `stiffness` is positive and undamped oscillations grow with the
/// integrator `rule` for every h > 0.
double largest_stable_substep(const ExplicitRule& rule, double stiffness, double damping);

}  // namespace diffsim::dynamics
