// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

namespace diffsim {

/// Time integrator. The first five are explicit, the others implicit.
enum class Integrator {
  explicit_euler,     ///< positions and velocities advance with the velocities and forces at the start of a substep
  symplectic_euler,   ///< velocities advance first; positions advance with the new velocities
  velocity_verlet,    ///< symplectic method of second order
  runge_kutta_2,      ///< explicit midpoint rule
  runge_kutta_4,      ///< classical method of fourth order
  implicit_euler,     ///< backward Euler method, of first order
  bdf2,               ///< backward differentiation formula of second order
  newmark,            ///< Newmark (1959), `ImplicitOptions::beta` and `gamma`
  generalised_alpha,  ///< Chung & Hulbert (1993), `ImplicitOptions::spectral_radius`
  quasi_static,       ///< equilibrium without inertia
};

/// Returns the name of an integrator in scenes and messages, for example "implicit_euler".
const char* name_of(Integrator integrator);
/// Returns the integrator with a name. Throws Error (input) if no integrator has this name; the message lists all
/// names.
Integrator integrator_named(const std::string& name);
/// Returns all integrators, in the order of the enumeration.
std::vector<Integrator> integrators();
/// Returns true for explicit integrators. Their steps need no solution of equations.
bool is_explicit(Integrator integrator);
/// Returns true for integrators with a damping factor on velocities: explicit_euler and symplectic_euler.
bool has_damping_factor(Integrator integrator);
/// Returns the names of the vertex fields that a state x[n] contains if time steps use `integrator`. The first two
/// names are `positions` and `velocities`.
std::vector<std::string> state_fields(Integrator integrator);

/// Options of Newton's method for an implicit step.
struct NewtonOptions {
  /// Tolerance of ‖R‖ over the free components, relative to the largest value of ‖M (a - λ g)‖ and ‖f‖ over all
  /// iterates. R = M (a - λ g) - f is the residual, with masses M, accelerations a, gravity g, load factor λ
  /// (`ImplicitOptions::ramp_steps`) and forces f.
  double tolerance = 1e-10;
  /// Tolerance of the residual of each iteration's linear system, relative to the norm of the right-hand side. If the
  /// value is 0, the tolerance of each iteration follows Eisenstat & Walker (1996), choice 2, or is 1e-12 if the matrix
  /// is factored.
  double linear_tolerance = 0.0;
  int max_iterations = 1000;  ///< maximum number of iterations of a solve
  /// Maximum number of successive iterations without progress. While prescribed components have not reached their
  /// prescribed positions, an iteration makes progress if the largest remaining distance is at most half of its value
  /// at the last progress. Afterwards, an iteration makes progress in two cases: the residual norm is at most half of
  /// its value at the last such reduction; or the potential Φ of the step decreases by more than 1e-4 of its previous
  /// decrease and by more than 1e-12 |Φ|.
  int max_stalled = 50;
  /// True if each iteration first attempts the exact Jacobian, even if the change of the residual in the last iteration
  /// indicates that the exact Jacobian is indefinite. Implicit time steppers replace a given value by the opposite of
  /// `ImplicitOptions::implicit_differentiation`.
  bool try_exact = false;
  /// Maximum number of reductions of a step's load increment. Each time Newton's method fails in a step, the increment
  /// of the loads and prescribed motions is halved, and the iterations restart from the last converged part of the
  /// load.
  int max_cuts = 8;
};

/// Options of the linear systems of an implicit step. PETSc's options (-ksp_…, -pc_…, -mat_…) take precedence.
struct LinearOptions {
  /// Tolerance of the residuals of the linear systems in the tangent and in the adjoint of a step, relative to the norm
  /// of the right-hand side. The linear systems of Newton's iterations use `NewtonOptions::linear_tolerance`.
  double tolerance = 1e-11;
  /// Largest number of unknowns for which the matrix of a linear system is factored. Larger systems are solved by
  /// conjugate gradients, or by GMRES if the matrix is not symmetric.
  int direct_below = 5000;
  /// True if Krylov methods compute products with the system's matrix J from the tangents of the force terms. The
  /// assembled J is then used for preconditioners and factorisations only. Requires a symmetric J. If J is projected to
  /// a positive semidefinite matrix, Krylov methods multiply with the assembled matrix.
  bool matrix_free = false;
  /// True if matrices of 3×3 blocks in host memory use this library's products and multigrid smoothers, which are
  /// faster than PETSc's products and smoothers.
  bool fast_paths = true;
};

/// Options of an implicit integrator and of its solver.
struct ImplicitOptions {
  double beta = 0.25;            ///< β of newmark
  double gamma = 0.5;            ///< γ of newmark
  double spectral_radius = 0.8;  ///< ρ∞ of generalised_alpha, for the highest frequencies; in [0, 1]
  /// Number of steps over which gravity and dead loads grow linearly from zero to their full values. Loads with one
  /// value per step are not scaled. If the value is 0, the full values act from the first step on.
  int ramp_steps = 0;
  /// True if a step is differentiated as the solution of the step's equation (implicit function theorem). If false,
  /// Newton's iterations are differentiated as executed, starting from the positions at the beginning of the step, with
  /// these consequences:
  /// - `newton.max_iterations` may end the iterations before convergence.
  /// - The relative residuals of the iterations' linear systems are at most `linear.tolerance`.
  /// - The load of a step is never halved.
  /// - Step lengths of the line search are treated as constants.
  /// - Derivatives throw Error (run) if an iteration used a Jacobian that was projected to a positive semidefinite
  ///   matrix.
  bool implicit_differentiation = true;
  /// Maximum number of Newton iterations whose positions are stored for the derivatives of a step, if
  /// `implicit_differentiation` is false. If a step took more iterations, the last iterations are stored. Derivatives
  /// recompute the earlier iterations from the start of the step.
  int held_iterations = 4;
  NewtonOptions newton;  ///< options of Newton's method
  LinearOptions linear;  ///< options of the linear systems
};

/// Gravitational acceleration, m/s².
struct Gravity : std::array<double, 3> {
  /// Creates the vector (0, `along_y`, 0).
  Gravity(double along_y) : std::array<double, 3>{0.0, along_y, 0.0} {}
  /// Creates the vector (x, y, z).
  Gravity(double x, double y, double z) : std::array<double, 3>{x, y, z} {}
  /// Creates a copy of `vector`.
  Gravity(const std::array<double, 3>& vector) : std::array<double, 3>(vector) {}
};

/// Time stepper: time step, integrator and their options. A DifferentiableSolver does not refer to any body.
struct DifferentiableSolver {
  double dt = 0.01;  ///< s
  int substeps = 4;  ///< number of substeps per step of explicit integrators
  /// Factor by which velocities are multiplied in each substep of symplectic_euler and explicit_euler.
  double damping = 0.99;
  Gravity gravity = -9.8;                                ///< initial value of the parameter `gravity`
  Integrator integrator = Integrator::symplectic_euler;  ///< method by which a step advances the state
  ImplicitOptions implicit{};                            ///< options of implicit integrators
  /// True if implicit steps are differentiated as solutions of their equation. If this option or
  /// `implicit.implicit_differentiation` is false, Newton's iterations are differentiated as executed.
  bool use_implicit_diff = true;
};

}  // namespace diffsim
