// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "dynamics/linear/linear_system.hpp"
#include "dynamics/nonlinear/newton_trace.hpp"

namespace diffsim::dynamics {

/// Residual and potential at positions y, with identical values on every rank.
struct Evaluation {
  bool valid = false;      ///< true if all energies exist at y and all values are finite
  double residual = 0.0;   ///< ‖R(y)‖ over the free components (N)
  double scale = 0.0;      ///< largest norm of the summands of R (N)
  double potential = 0.0;  ///< potential Φ (J) with R = ∂Φ/∂y; only if the problem has a potential
};

/// Terms whose element contributions to J are made positive semidefinite.
enum class Projection { none, contact, all };

/// Equation R(y) = 0 in the free components. The other components are prescribed. The gap is the prescribed position
/// minus y. If positions are constrained, y satisfies the constraints, and R and the directions are in the tangent
/// space of the constraints at y. An iterate consists of y and of the progress of moving obstacles.
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  virtual bool has_potential() const = 0;
  /// Computes R(y), zero in prescribed components. y: [local vertices, 3], ghost values up to date.
  virtual Evaluation evaluate(const Field& y, Field& residual) = 0;
  /// Computes the gap, which is zero in free components, and returns the largest absolute value of the gap.
  virtual double find_gap(const Field& y, Field& gap) = 0;
  /// Computes d with J d = -R in the free components, to a relative residual of `tolerance`, and d = gap in the
  /// prescribed components. The right-hand side also contains the first-order change of the forces by the remaining
  /// motion of obstacles. Ghost values of d are up to date. `gap`: nullptr if prescribed components and moving
  /// obstacles must not move. `projection`: terms whose element contributions to J are made positive semidefinite.
  virtual LinearReport find_direction(const Field& y, const Field& residual, const Field* gap, double tolerance,
                                      Projection projection, Field& direction) = 0;
  /// Returns true if some term limits step lengths. `Projection::contact` projects the terms that limit step lengths.
  virtual bool has_contact() const = 0;
  /// Returns true if linear systems are solved to rounding error regardless of the tolerance.
  virtual bool solves_exactly() = 0;
  /// Returns Σ x y over the owned vertices of all ranks.
  virtual double dot(const Field& x, const Field& y) const = 0;
  /// Returns the largest |x| over the owned vertices of all ranks.
  virtual double largest(const Field& x) const = 0;
  /// Computes to = from + t d on all local vertices. If positions are constrained, also moves the result onto the
  /// constraints. Returns false if there is no such result because t d is too large.
  virtual bool move(const Field& from, double t, const Field& direction, Field& to) const = 0;
  /// Returns true if positions are constrained. The path of `move` from `from` to `to` then depends on t.
  virtual bool has_constraints() const = 0;
  /// Returns the largest admissible fraction t ≤ 1 of the motion from `from` to `to`, while obstacles move from
  /// `from_progress` to `to_progress`.
  virtual double max_step(const Field& from, double from_progress, const Field& to, double to_progress) = 0;
  /// Completed fraction of the obstacles' motion in this step, in [0, 1]. The fraction approaches `progress_goal` as
  /// prescribed components approach their prescribed positions.
  virtual double progress() const = 0;
  virtual double progress_goal() const = 0;
  virtual void set_progress(double progress) = 0;
  /// Returns an upper bound of the rounding error of a residual (N). The bound is known after the first call of
  /// `find_direction`.
  virtual double rounding() const = 0;
};

/// Outcome of Newton's method.
struct NewtonReport {
  bool converged = false;
  bool exhausted = false;       ///< the iterations stalled or reached their maximum number
  bool linear_failure = false;  ///< a linear system was not solved
  int iterations = 0;
  int linear_iterations = 0;
  int projections = 0;            ///< iterations that used a projected Jacobian
  int obstructions = 0;           ///< iterations whose step length `max_step` reduced
  int reductions = 0;             ///< iterations whose step length the line search reduced further
  std::vector<double> residuals;  ///< relative residual of each iterate, beginning with the starting point
  std::string reason;             ///< why the method ended; begins with a similar SNES reason if the method failed
};

/// Solves R(y) = 0 by Newton's method with a backtracking line search. `y`: starting point on entry, last iterate on
/// return.
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
/// - A residual below the bound of its rounding error (`NewtonProblem::rounding`) counts as converged.
/// - Without a potential (friction, viscosity), a trial is accepted if the residual norm decreases. A trial is also
///   accepted if two conditions hold: R(trial)·d ≤ -½ R·d, which limits the overshoot (Matthies & Strang 1979), and a
///   residual norm of at most the largest of the last ten iterates (Grippo, Lampariello & Lucidi 1986). If the
///   direction of the exact Jacobian gives no accepted trial, or is not a descent direction, the direction of the
///   projected Jacobian is used.
/// - Without a potential, step lengths vary after ten iterations without progress, so that iterates do not repeat.
/// - The tolerance of the linear systems follows Eisenstat & Walker (1996), choice 2.
///
/// `trace`: if not nullptr, receives the iterations.
NewtonReport solve_by_newton(NewtonProblem& problem, const NewtonOptions& options, Field& y,
                             NewtonTrace* trace = nullptr);

}  // namespace diffsim::dynamics
