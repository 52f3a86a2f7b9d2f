// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

namespace diffsim {

/// Time integrator. The integrators explicit_euler, symplectic_euler, velocity_verlet, runge_kutta_2 and runge_kutta_4
/// are explicit; all other integrators are implicit.
enum class Integrator {
  explicit_euler,     ///< positions and velocities advance with the velocities and forces at the start of a substep
  symplectic_euler,   ///< velocities advance first; positions advance with the new velocities
  velocity_verlet,    ///< symplectic method of second order
  runge_kutta_2,      ///< explicit midpoint rule
  runge_kutta_4,      ///< classical Runge–Kutta method of fourth order
  implicit_euler,     ///< backward Euler method, of first order
  bdf2,               ///< backward differentiation formula of second order
  newmark,            ///< method of Newmark (1959) with `ImplicitOptions::beta` and `gamma`
  generalised_alpha,  ///< method of Chung & Hulbert (1993) with `ImplicitOptions::spectral_radius`
  quasi_static,       ///< equilibrium without inertia
};

/// Returns the name of an integrator in scenes and messages, for example "implicit_euler".
const char* name_of(Integrator integrator);
/// Returns the integrator with the name `name`. Throws Error (input) for an unknown name; the message lists the names
/// of all integrators.
Integrator integrator_named(const std::string& name);
/// Returns all integrators, in the order of the enumeration Integrator.
std::vector<Integrator> integrators();
/// Returns true for explicit integrators, whose steps need no solution of equations.
bool is_explicit(Integrator integrator);
/// Returns true for integrators with a damping factor on velocities: explicit_euler and symplectic_euler.
bool has_damping_factor(Integrator integrator);
/// Returns the names of the vertex fields that a state x[n] contains if time steps use `integrator`. The first two
/// names are `positions` and `velocities`.
std::vector<std::string> state_fields(Integrator integrator);

/// Options of Newton's method for an implicit step.
struct NewtonOptions {
  /// Tolerance of the norm of the residual M (a - λ g) - f over the free components, relative to the largest value of
  /// ‖M (a - λ g)‖ and ‖f‖ over all iterates, with the masses M, accelerations a, gravity g, load factor λ
  /// (`ImplicitOptions::ramp_steps`) and forces f.
  double tolerance = 1e-10;
  /// Tolerance of the residual of the linear system in each Newton iteration, relative to the norm of the right-hand
  /// side. If `linear_tolerance` is 0, the tolerance follows Eisenstat & Walker (1996), choice 2, for Krylov methods.
  /// For factored matrices, the tolerance is then 1e-2 ρ², but at least 1e-12 and at most 1e-3, where ρ is the ratio of
  /// the last two residual norms of Newton's method.
  double linear_tolerance = 0.0;
  int max_iterations = 1000;  ///< maximum number of Newton iterations of a solve
  /// Maximum number of successive Newton iterations without progress. While prescribed components or obstacles still
  /// move, an iteration makes progress if it halves the larger of two fractions: the remaining fraction of the largest
  /// distance of a component to its prescribed position, and the remaining fraction of the obstacles' motion. After the
  /// end of these motions, an iteration makes progress if it halves the residual norm, or if the step has a potential
  /// Φ, and Φ falls below its previous minimum by more than 1e-12 |Φ| and by more than 1e-4 of the decrease of Φ since
  /// the end of the motions. An iteration halves a quantity if the quantity is at most half of its value at the last
  /// halving.
  int max_stalled = 50;
  /// True if each Newton iteration first attempts the exact Jacobian, even if the change of the residual in the last
  /// iteration indicates that the exact Jacobian is indefinite. Implicit time steppers set `try_exact` to the opposite
  /// of `ImplicitOptions::implicit_differentiation`, regardless of the user's value.
  bool try_exact = false;
  /// Maximum number of reductions of a step's load increment. Each time Newton's method fails in a step, the increment
  /// of the loads and prescribed motions is halved, and the iterations restart from the solution for the last load at
  /// which Newton's method converged, or from the start of the step.
  int max_cuts = 8;
};

/// Options of the linear systems of an implicit step. PETSc's options (-ksp_…, -pc_…, -mat_…) take precedence over
/// LinearOptions.
struct LinearOptions {
  /// Tolerance of the residuals of the linear systems in the tangent and in the adjoint of a step, relative to the norm
  /// of the right-hand side. The linear systems of Newton's iterations use `NewtonOptions::linear_tolerance`.
  double tolerance = 1e-11;
  /// Largest number of unknowns for which the matrix of a linear system is factored. Fixed and prescribed components
  /// are not unknowns. Unknowns of affine bodies, rigid bodies and rotors of joints do not count, as long as there are
  /// at most 20 · `direct_below` unknowns in all. Larger linear systems are solved by conjugate gradients, or by GMRES
  /// if the matrix is not symmetric.
  int direct_below = 5000;
  /// True if Krylov methods compute products with the matrix J of a linear system from the tangents of the force terms,
  /// so that the assembled matrix J is used for preconditioners and factorisations only. Requires a symmetric J. If J
  /// is projected to a positive semidefinite matrix, Krylov methods multiply with the assembled matrix.
  bool matrix_free = false;
  /// True if matrices of 3×3 blocks in host memory use diffsim's matrix products and multigrid smoothers, which are
  /// faster than PETSc's products and smoothers.
  bool fast_paths = true;
};

/// Options of an implicit integrator and of its solver.
struct ImplicitOptions {
  double beta = 0.25;            ///< β of newmark
  double gamma = 0.5;            ///< γ of newmark
  double spectral_radius = 0.8;  ///< spectral radius ρ∞ of generalised_alpha at the highest frequencies; in [0, 1]
  /// Number of steps over which gravity and dead loads grow linearly from zero to their full values. Gravity and dead
  /// loads with one value per step are not scaled. If `ramp_steps` is 0, gravity and dead loads have their full values
  /// from the first step on.
  int ramp_steps = 0;
  /// True if a step is differentiated as the solution of the step's equation (implicit function theorem). If false,
  /// Newton's iterations are differentiated as executed, starting from the positions at the beginning of the step, with
  /// these consequences:
  /// - The iterations may end without convergence, after `newton.max_iterations` iterations or after
  ///   `newton.max_stalled` iterations without progress, and the load increment of a step is never halved.
  /// - The relative residuals of the iterations' linear systems are at most `linear.tolerance`.
  /// - Derivatives treat step lengths of the line search as constants, and throw Error (run) if an iteration used a
  ///   Jacobian that was projected to a positive semidefinite matrix.
  bool implicit_differentiation = true;
  /// Maximum number of Newton iterations whose positions are stored for the derivatives of a step, if
  /// `implicit_differentiation` is false. If a step took more than `held_iterations` Newton iterations, only the
  /// positions of the last `held_iterations` iterations are stored. To differentiate a step, Newton iterations whose
  /// positions are not stored are computed again from the start of the step.
  int held_iterations = 4;
  NewtonOptions newton;  ///< options of Newton's method
  LinearOptions linear;  ///< options of the linear systems of implicit steps
};

/// Gravitational acceleration, m/s².
struct Gravity : std::array<double, 3> {
  /// Creates the vector (0, `along_y`, 0).
  Gravity(double along_y) : std::array<double, 3>{0.0, along_y, 0.0} {}
  /// Creates the vector (x, y, z).
  Gravity(double x, double y, double z) : std::array<double, 3>{x, y, z} {}
  /// Creates a Gravity with the components of `vector`.
  Gravity(const std::array<double, 3>& vector) : std::array<double, 3>(vector) {}
};

/// Options of a time stepper: the time step, the integrator, and the options of the integrator. A DifferentiableSolver
/// does not refer to any body.
struct DifferentiableSolver {
  double dt = 0.01;  ///< time step (s)
  int substeps = 4;  ///< number of substeps per step of explicit integrators
  /// Factor by which velocities are multiplied in each substep of symplectic_euler and explicit_euler.
  double damping = 0.99;
  Gravity gravity = -9.8;                                ///< initial value of the parameter `gravity`
  Integrator integrator = Integrator::symplectic_euler;  ///< time integrator by which a step advances the state
  ImplicitOptions implicit{};                            ///< options of implicit integrators
  /// True if implicit steps are differentiated as solutions of the step's equation (implicit function theorem). If
  /// `use_implicit_diff` or `implicit.implicit_differentiation` is false, Newton's iterations are differentiated as
  /// executed.
  bool use_implicit_diff = true;
};

}  // namespace diffsim
