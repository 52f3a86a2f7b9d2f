// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace diffsim {

/// Options of Newton's method for an implicit step.
struct NewtonOptions {
  /// Tolerance of the norm of the residual R = M (a - λ g) - f over the free components, relative to the largest value
  /// of ‖M (a - λ g)‖ and ‖f‖ over the iterates. M: masses, a: accelerations, g: gravity, λ: load factor of
  /// `ImplicitOptions::ramp_steps`, f: forces.
  double tolerance = 1e-10;
  /// Tolerance of the linear systems' residuals, relative to the right-hand side. 0: adaptive, as loose as the
  /// convergence of Newton's method allows (Eisenstat & Walker).
  double linear_tolerance = 0.0;
  int max_iterations = 1000;
  /// Maximum number of successive iterations without progress. Progress means that the remaining part of prescribed
  /// motions has halved. Once that part is zero, progress means that the least residual has halved, or that the
  /// potential has fallen by 1e-4 of its total decrease so far.
  int max_stalled = 50;
  /// True if the exact Jacobian is attempted even if the forces along the last step indicate that this Jacobian is
  /// indefinite. Set by models that differentiate Newton's iterations.
  bool try_exact = false;
  int max_cuts = 8;  ///< maximum number of times that the load of a step is halved after Newton fails; 0: never
};

/// Options of the linear systems of an implicit step. PETSc's options (-ksp_…, -pc_…, -mat_…) take precedence.
struct LinearOptions {
  /// Tolerance of the residuals of derivatives' linear systems, relative to the right-hand side. The systems of
  /// Newton's method use `NewtonOptions::linear_tolerance`.
  double tolerance = 1e-11;
  /// Largest number of unknowns for which a system is factored. Larger systems are solved by conjugate gradients, or
  /// by GMRES if the matrix is not symmetric.
  int direct_below = 5000;
  /// True if Krylov methods compute products with the system's matrix J from the tangents of the force terms. The
  /// assembled J is then used for preconditioners and factorisations only. Requires a symmetric J. If J is made
  /// semidefinite, Krylov methods multiply with the assembled matrix.
  bool matrix_free = false;
};

/// Names of the implicit integrators: implicit_euler, bdf2, newmark, generalised_alpha, quasi_static.
std::vector<std::string> implicit_integrators();
/// Names of the vertex fields in the state of an implicit integrator, `positions` and `velocities` first. Throws Error
/// (input) for an integrator that is not in `implicit_integrators`.
std::vector<std::string> state_fields(const std::string& integrator);

/// Implicit integrator and the options of its solver.
struct ImplicitOptions {
  /// One of `implicit_integrators`.
  std::string integrator = "implicit_euler";
  double beta = 0.25;            ///< β of newmark
  double gamma = 0.5;            ///< γ of newmark
  double spectral_radius = 0.8;  ///< ρ∞ of generalised_alpha, at the highest frequencies, in [0, 1]
  /// Number of steps over which gravity and dead loads grow linearly to their full value. Loads with a value for each
  /// step are not ramped. 0: the full value acts from the first step on.
  int ramp_steps = 0;
  /// True if steps are differentiated as solutions of their equation (implicit function theorem). If false, Newton's
  /// iterations are differentiated as executed, starting from x[n]. Then `newton.max_iterations` may end the iterations
  /// before they converge, linear systems are solved to `linear.tolerance`, and the load of a step is never halved. The
  /// step lengths of the line search are treated as constants. Derivatives throw an Error if an iteration used the
  /// projected Hessian.
  bool implicit_differentiation = true;
  /// Number of Newton iterations that a record holds if iterations are differentiated. A record holds the positions of
  /// the last iterations. If a step took more iterations, derivatives repeat the step from its start once for every
  /// `held_iterations` earlier iterations.
  int held_iterations = 4;
  NewtonOptions newton;
  LinearOptions linear;
};

}  // namespace diffsim
