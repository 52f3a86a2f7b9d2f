// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "dynamics/linear/linear_system.hpp"
#include "dynamics/nonlinear/newton_trace.hpp"

namespace diffsim::dynamics {

/// Residual R and potential Φ of a NewtonProblem at positions y, with identical values on every rank.
struct Evaluation {
  /// True if the residual R(y), the summands of R and the potential Φ(y) are finite, no cell is inverted at the
  /// positions y, and the constraints, if any, have a tangent space at y.
  bool valid = false;
  double residual = 0.0;  ///< norm ‖R(y)‖ of the residual over the free components (N)
  /// Larger of the norms (N) of the two summands of the residual R: the forces f, and M (a - λ g) with masses M,
  /// accelerations a, the load factor λ and gravity g.
  double scale = 0.0;
  double potential = 0.0;  ///< potential Φ(y) in joules, whose gradient is the residual R(y); 0 without a potential
};

/// Force terms whose element contributions to the Jacobian J are made positive semidefinite: no terms, terms of
/// contact, or all terms.
enum class Projection { none, contact, all };

/// Equation R(y) = 0 for the free components of the positions y, with the Jacobian J = ∂R/∂y. The other components of y
/// are prescribed. If positions are constrained, the positions y satisfy the constraints, and the residual R and the
/// directions of Newton's method are in the tangent space of the constraints at y. An iterate of Newton's method
/// consists of the positions y and of the completed fraction of the motion of obstacles (`progress`).
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  virtual bool has_potential() const = 0;
  /// Computes the residual R(y), zero in prescribed components. y: [local vertices, 3], ghost values up to date.
  virtual Evaluation evaluate(const Field& y, Field& residual) = 0;
  /// Computes `gap`, the prescribed positions minus the positions y (zero in free components), and returns the largest
  /// absolute value in `gap`.
  virtual double find_gap(const Field& y, Field& gap) = 0;
  /// Computes the direction d of an iteration of Newton's method: J d = -R in the free components, to a relative
  /// residual of `tolerance`, and d = `gap` in the prescribed components. The right-hand side of the linear system
  /// includes the first-order change of the forces that the remaining motion of obstacles causes. Ghost values of d are
  /// up to date. `gap`: result of `find_gap`, or nullptr if prescribed components and moving obstacles must not move.
  /// `projection`: force terms whose element contributions to the Jacobian J are made positive semidefinite.
  virtual LinearReport find_direction(const Field& y, const Field& residual, const Field* gap, double tolerance,
                                      Projection projection, Field& direction) = 0;
  /// Returns true if some force term limits step lengths, as contact does. `Projection::contact` makes the
  /// contributions of the terms that limit step lengths positive semidefinite.
  virtual bool has_contact() const = 0;
  /// Returns true if matrices are factored, so that a small tolerance of a linear system costs little.
  virtual bool uses_factors() = 0;
  /// Returns the dot product of x and y over the owned vertices of all ranks.
  virtual double dot(const Field& x, const Field& y) const = 0;
  /// Returns the largest absolute value of a component of x over the owned vertices of all ranks.
  virtual double largest(const Field& x) const = 0;
  /// Computes `to` = `from` + t · `direction` on all local vertices. If positions are constrained, `move` corrects the
  /// positions `to` such that `to` satisfies the constraints. Returns false if no positions that satisfy the
  /// constraints are found because the step t · `direction` is too large.
  virtual bool move(const Field& from, double t, const Field& direction, Field& to) const = 0;
  /// Returns true if positions are constrained, so that the result of `move` is not linear in the step length t.
  virtual bool has_constraints() const = 0;
  /// Returns the largest fraction t ≤ 1 of the motion from the positions `from` to the positions `to` that force terms
  /// permit; contact, for example, permits only motion without a collision. While positions move from `from` to `to`,
  /// obstacles move from the fraction `from_progress` to the fraction `to_progress` of the obstacles' motion in the
  /// step.
  virtual double max_step(const Field& from, double from_progress, const Field& to, double to_progress) = 0;
  /// Completed fraction of the obstacles' motion in the step, in [0, 1]. The fraction approaches `progress_goal` as
  /// prescribed components approach their prescribed positions.
  virtual double progress() const = 0;
  virtual double progress_goal() const = 0;
  virtual void set_progress(double progress) = 0;
  /// Returns an upper bound (N) of the rounding error of the residual norm ‖R‖. The bound is known after the first call
  /// of `find_direction`.
  virtual double rounding() const = 0;
};

/// Outcome of Newton's method.
struct NewtonReport {
  bool converged = false;
  bool exhausted = false;       ///< true if iterations made no progress, or reached their maximum number
  bool linear_failure = false;  ///< true if a linear system could not be solved
  int iterations = 0;
  int linear_iterations = 0;
  int projections = 0;   ///< number of iterations with a projected Jacobian
  int obstructions = 0;  ///< number of line searches whose step length `NewtonProblem::max_step` reduced
  /// Number of iterations in which the line search reduced the step length below the length that
  /// `NewtonProblem::max_step` permits.
  int reductions = 0;
  /// Residual norm ‖R‖ of each iterate, beginning with the starting point, divided by the largest `Evaluation::scale`
  /// of all iterates up to that iterate.
  std::vector<double> residuals;
  /// Reason why Newton's method ended. After a failure, `reason` begins with the name of the PETSc constant
  /// SNES_DIVERGED_… that describes the failure best.
  std::string reason;
};

/// Solves the equation R(y) = 0 of a NewtonProblem by Newton's method with a backtracking line search along directions
/// d. `y`: starting point on entry, last iterate on return.
///
/// `solve_by_newton` replaces PETSc's SNES, because SNES does not provide the following operations:
///
/// - A direction of Newton's method is computed with the exact Jacobian. If the exact Jacobian is indefinite, if the
///   linear system with the exact Jacobian is not solved, or if the potential was concave along the previous direction,
///   the direction is computed with a projected Jacobian, in which the element contributions of some force terms are
///   made positive semidefinite. With a potential, the contributions of contact alone are made positive semidefinite
///   first, and the contributions of all force terms only if the Jacobian is still indefinite; without a potential, the
///   contributions of all force terms are made positive semidefinite at once.
///
/// - Force terms such as contact limit the step length.
///
/// - Prescribed components approach their prescribed positions along the direction of each iteration, so that iterates
///   have no inverted cells. If force terms limit the step length, prescribed components may move further than free
///   components, as far as the force terms allow. If the step length of an iteration was below ½, prescribed components
///   and obstacles do not move in up to four following iterations.
///
/// - The iterations end if the residual norm is below the tolerance, or below the bound of the norm's rounding error
///   (`NewtonProblem::rounding`).
///
/// - Without a potential (friction, viscosity), a trial y + t d with a step length t is accepted if the residual norm
///   ‖R‖ decreases. Along a descent direction d (R(y)·d < 0), a trial is also accepted if two conditions hold:
///   R(y + t d)·d ≤ -½ R(y)·d, which limits the overshoot (Matthies & Strang 1979); and ‖R(y + t d)‖ is at most the
///   largest residual norm of the last ten iterates (Grippo, Lampariello & Lucidi 1986). Along a direction of the exact
///   Jacobian that is not a descent direction, however, a trial is accepted only if ‖R‖ decreases to at most a quarter.
///   If no trial along the direction of the exact Jacobian is accepted, the direction of the projected Jacobian is
///   used.
///
/// - Without a potential, step lengths vary after ten iterations without progress, so that iterates do not repeat.
///
/// - The tolerance of the linear systems follows Eisenstat & Walker (1996), choice 2, unless
///   `NewtonOptions::linear_tolerance` is given. If the matrices are factored, the tolerance is so small that the
///   iterates differ little from those of exact linear solves.
///
/// `trace`: if not nullptr, stores the iterates and step lengths.
NewtonReport solve_by_newton(NewtonProblem& problem, const NewtonOptions& options, Field& y,
                             NewtonTrace* trace = nullptr);

}  // namespace diffsim::dynamics
