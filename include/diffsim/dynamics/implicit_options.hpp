// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace diffsim {

/// Newton's method of an implicit step.
struct NewtonOptions {
  /// On the residual of the free components, relative to the largest of the forces that balance each other.
  double tolerance = 1e-10;
  /// Of the linear systems, on the residual relative to the right hand side; 0: as loose as the method's convergence
  /// allows (Eisenstat & Walker).
  double linear_tolerance = 0.0;
  int max_iterations = 1000;
  /// Iterations without progress: since the part of prescribed motions that is missing, or with none missing the least
  /// residual, was last halved, or the potential fell by 1e-4 of what it has fallen by.
  int max_stalled = 50;
  /// Whether the exact Jacobian is tried even where the forces along the last step tell that it is indefinite. Set by
  /// models that differentiate Newton's iterations.
  bool try_exact = false;
  int max_cuts = 8;  ///< how often the load of a step may be halved where Newton fails; 0: never
};

/// Linear systems of an implicit step. PETSc's options (-ksp_…, -pc_…, -mat_…) go before what is said here.
struct LinearOptions {
  /// Of the systems that derivatives solve, on the residual relative to the right hand side. Newton's have
  /// `NewtonOptions::linear_tolerance`.
  double tolerance = 1e-11;
  /// Up to so many unknowns they are factored, beyond solved by conjugate gradients.
  int direct_below = 5000;
  /// Whether Krylov methods multiply with J by the terms' force tangents, the assembled J serving preconditioners and
  /// factors alone. Symmetric J only; where J is made semidefinite, the assembled one is what is solved with.
  bool matrix_free = false;
};

/// Names of the implicit integrators: implicit_euler, bdf2, newmark, generalised_alpha, quasi_static.
std::vector<std::string> implicit_integrators();
/// Vertex fields of an implicit integrator's state, `positions` and `velocities` first. Throws Error (input) for an
/// integrator that is not one of `implicit_integrators`.
std::vector<std::string> state_fields(const std::string& integrator);

/// An implicit integrator and how it solves its steps.
struct ImplicitOptions {
  /// One of `implicit_integrators`.
  std::string integrator = "implicit_euler";
  double beta = 0.25;            ///< newmark
  double gamma = 0.5;            ///< newmark
  double spectral_radius = 0.8;  ///< generalised_alpha: ρ∞, of the highest frequencies, in [0, 1]
  /// Over how many steps gravity and dead loads that have one value grow linearly to it; 0: they act at once.
  int ramp_steps = 0;
  /// Whether steps are differentiated as solutions of their equation (implicit function theorem). False: Newton's
  /// iterations as they ran, from x[n] on, are; then `newton.max_iterations` may stop short of the solution, linear
  /// systems are solved to `linear.tolerance`, and no step is cut. The lengths of steps that the line search found
  /// count as constants; an iteration that needed the projected Hessian is an Error where derivatives are asked for.
  bool implicit_differentiation = true;
  /// How many of Newton's iterations a record holds where those are differentiated, the last ones: positions each. A
  /// step that took more is taken again from its start for every so many of the others.
  int held_iterations = 4;
  NewtonOptions newton;
  LinearOptions linear;
};

}  // namespace diffsim
