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
  bool valid = false;     ///< true if no cell is inverted at y, so that all energies exist, and all values are finite
  double residual = 0.0;  ///< ‖R(y)‖ over the free components (N)
  /// Larger of the norms of the two summands of R: inertia and weight M (a - λ g), forces f (N).
  double scale = 0.0;
  double potential = 0.0;  ///< potential Φ (J) with R = ∂Φ/∂y; only if the problem has a potential
};

/// Force terms whose element contributions to the Jacobian J are made positive semidefinite: no terms, terms of
/// contact, or all terms.
enum class Projection { none, contact, all };

/// Equation R(y) = 0 for the free components of the positions y, with the Jacobian J = ∂R/∂y. The other components are
/// prescribed. The gap of a prescribed component is the prescribed position minus the component of y. If positions are
/// constrained, y satisfies the constraints, and R and the directions are in the tangent space of the constraints at y.
/// An iterate consists of y and of the completed fraction of the motion of obstacles (`progress`).
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  virtual bool has_potential() const = 0;
  /// Computes R(y), zero in prescribed components. y: [local vertices, 3], ghost values up to date.
  virtual Evaluation evaluate(const Field& y, Field& residual) = 0;
  /// Computes the gap (prescribed position minus y; zero in free components) and returns the gap's largest absolute
  /// value.
  virtual double find_gap(const Field& y, Field& gap) = 0;
  /// Computes the direction d of an iteration: J d = -R in the free components, to a relative residual of `tolerance`,
  /// and d = `gap` in the prescribed components. The right-hand side also contains the first-order change of the forces
  /// by the remaining motion of obstacles. Ghost values of d are up to date. `gap`: nullptr if prescribed components
  /// and moving obstacles must not move. `projection`: terms whose element contributions to J are made positive
  /// semidefinite.
  virtual LinearReport find_direction(const Field& y, const Field& residual, const Field* gap, double tolerance,
                                      Projection projection, Field& direction) = 0;
  /// Returns true if some force term limits step lengths, as contact does. `Projection::contact` applies to these
  /// terms.
  virtual bool has_contact() const = 0;
  /// Returns true if linear systems are solved to rounding error regardless of the tolerance.
  virtual bool solves_exactly() = 0;
  /// Returns Σ x y over the owned vertices of all ranks.
  virtual double dot(const Field& x, const Field& y) const = 0;
  /// Returns the largest |x| over the owned vertices of all ranks.
  virtual double largest(const Field& x) const = 0;
  /// Computes to = from + t · direction on all local vertices. If positions are constrained, also moves the result onto
  /// the constraints. Returns false if no such positions are found because t · direction is too large.
  virtual bool move(const Field& from, double t, const Field& direction, Field& to) const = 0;
  /// Returns true if positions are constrained. The result of `move` is then not linear in t.
  virtual bool has_constraints() const = 0;
  /// Returns the largest fraction t ≤ 1 of the motion from `from` to `to` that force terms permit, for example without
  /// a collision. At the same time obstacles move from the fraction `from_progress` to the fraction `to_progress` of
  /// their motion.
  virtual double max_step(const Field& from, double from_progress, const Field& to, double to_progress) = 0;
  /// Completed fraction of the obstacles' motion in this step, in [0, 1]. The fraction approaches `progress_goal` as
  /// prescribed components approach their prescribed positions.
  virtual double progress() const = 0;
  virtual double progress_goal() const = 0;
  virtual void set_progress(double progress) = 0;
  /// Returns an upper bound of the rounding error of the norm of R (N). The bound is known after the first call of
  /// `find_direction`.
  virtual double rounding() const = 0;
};

/// Outcome of Newton's method.
struct NewtonReport {
  bool converged = false;
  bool exhausted = false;       ///< the iterations made no progress, or reached their maximum number
  bool linear_failure = false;  ///< a linear system was not solved
  int iterations = 0;
  int linear_iterations = 0;
  int projections = 0;   ///< iterations that used a projected Jacobian
  int obstructions = 0;  ///< iterations whose step length was reduced because of `NewtonProblem::max_step`
  int reductions = 0;    ///< iterations whose step length the line search reduced further
  /// ‖R‖ of each iterate divided by the largest `Evaluation::scale` so far, beginning with the starting point.
  std::vector<double> residuals;
  /// Reason why the method ended; after a failure, begins with the name of the most similar reason of PETSc's SNES.
  std::string reason;
};

/// Solves the equation R(y) = 0 of a NewtonProblem by Newton's method with a backtracking line search along directions
/// d. `y`: starting point on entry, last iterate on return.
///
/// This implementation replaces PETSc's SNES, because SNES does not provide the following operations:
///
/// - A direction is computed with the exact Jacobian. If the exact Jacobian is indefinite, or if the potential was
///   concave along the previous direction, terms are projected: their element contributions to the Jacobian are made
///   positive semidefinite. With a potential, contact terms alone are projected first. If the Jacobian is still
///   indefinite, and without a potential, all terms are projected.
/// - Force terms limit the step length.
/// - Prescribed components approach their prescribed positions along the direction, so that no iterate is invalid. If
///   force terms limit the step length, prescribed components move further than free components, as far as the force
///   terms allow. If the step length was below ½, only free components move in up to four following iterations.
/// - The iterations also end if the residual norm is below the bound of its rounding error (`NewtonProblem::rounding`).
/// - Without a potential (friction, viscosity), a trial y + t d with a step length t is accepted if the residual norm
///   decreases. A trial is also accepted if two conditions hold: R(trial)·d ≤ -½ R·d, which limits the overshoot
///   (Matthies & Strang 1979), and a residual norm of at most the largest of the last ten iterates (Grippo, Lampariello
///   & Lucidi 1986). If the direction of the exact Jacobian gives no accepted trial, or is not a descent direction, the
///   direction of the projected Jacobian is used.
/// - Without a potential, step lengths vary after ten iterations without progress, so that iterates do not repeat.
/// - The tolerance of the linear systems follows Eisenstat & Walker (1996), choice 2, unless
///   `NewtonOptions::linear_tolerance` is given or the matrices are factored.
///
/// `trace`: if not nullptr, stores the iterates and step lengths.
NewtonReport solve_by_newton(NewtonProblem& problem, const NewtonOptions& options, Field& y,
                             NewtonTrace* trace = nullptr);

}  // namespace diffsim::dynamics
