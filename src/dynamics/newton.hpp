// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/dynamics/implicit_options.hpp"
#include "dynamics/linear_system.hpp"
#include "dynamics/newton_trace.hpp"

namespace diffsim::dynamics {

/// Residual and potential of a configuration y; the same numbers on every rank.
struct Evaluation {
  bool valid = false;      ///< energies exist there, everything is finite
  double residual = 0.0;   ///< ‖R(y)‖ over the free components, N
  double scale = 0.0;      ///< of the largest of the forces that R balances, N
  double potential = 0.0;  ///< Φ with R = ∂Φ/∂y, J; only if the problem has one
};

/// Terms whose elements' shares of J are made positive semidefinite.
enum class Projection { none, contact, all };

/// R(y) = 0 in the free components; the others are prescribed, and the part that is missing to what is prescribed is
/// the gap.
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;
  virtual bool has_potential() const = 0;
  /// R(y), zero in prescribed components. y: [local vertices, 3], copies up to date.
  virtual Evaluation evaluate(const Field& y, Field& residual) = 0;
  /// The largest gap of a component; `gap` is zero in free ones.
  virtual double find_gap(const Field& y, Field& gap) = 0;
  /// d with J d = -R in the free components, to a relative residual of `tolerance`, and d = gap in the others. Copies
  /// are up to date. `gap`: nullptr where prescribed components, and what moves by itself, are to stay. `projection`:
  /// in which terms each element's share of J is made positive semidefinite.
  virtual LinearReport find_direction(const Field& y, const Field& residual, const Field* gap, double tolerance,
                                      Projection projection, Field& direction) = 0;
  /// Whether there are terms that `Projection::contact` projects: those that limit steps.
  virtual bool has_contact() const = 0;
  /// Whether linear systems are solved to rounding whatever the tolerance.
  virtual bool solves_exactly() = 0;
  /// Σ x y over owned vertices and ranks, and the largest |x|.
  virtual double dot(const Field& x, const Field& y) const = 0;
  virtual double largest(const Field& x) const = 0;
  /// to = from + t d on all local vertices.
  virtual void move(const Field& from, double t, const Field& direction, Field& to) const = 0;
  /// The largest admissible t ≤ 1 of a motion, while what moves by itself goes from one progress to another.
  virtual double max_step(const Field& from, double from_progress, const Field& to, double to_progress) = 0;
  /// What moves by itself has come this part of its way, in [0, 1]; with y it is what an iterate is. It approaches its
  /// goal as prescribed components do, `find_direction` taking it into account.
  virtual double progress() const = 0;
  virtual double progress_goal() const = 0;
  virtual void set_progress(double progress) = 0;
  /// Upper bound of what rounding leaves of a residual, N: known once there was a direction.
  virtual double rounding() const = 0;
};

/// How Newton's method went.
struct NewtonReport {
  bool converged = false;
  bool exhausted = false;       ///< it ended because the iterations were used up
  bool linear_failure = false;  ///< it ended because a linear system was not solved
  int iterations = 0;
  int linear_iterations = 0;
  int projections = 0;            ///< iterations that needed the projected Hessian
  int obstructions = 0;           ///< iterations whose motion `max_step` cut
  int reductions = 0;             ///< iterations whose step the line search made shorter still
  std::vector<double> residuals;  ///< relative, of each iterate, the start first
  std::string reason;             ///< why it ended, in words; of failures after PETSc's name for the like
};

/// Solves R(y) = 0 from y on by Newton's method with a backtracking line search.
///
/// Our own rather than SNES, because of what it does between PETSc's solves: a direction is computed with the exact
/// Jacobian; where that turns out indefinite, with contact projected; where that is not enough, with all terms
/// projected. Prescribed components approach what is prescribed along the direction, so that an iterate is never
/// invalid. Where force terms cut such a step, the prescribed components go further than the free ones, as far as the
/// terms allow; where the step was cut by more than half, the free ones then have up to four steps of their own. Force
/// terms limit the step; and convergence is told from rounding. Without a potential (friction, viscosity) a trial is as
/// good where it is past no more than the decrease of what the forces do along its direction (Matthies & Strang 1979),
/// and its residual no larger than lately (Grippo, Lampariello & Lucidi 1986), as where the residual is less; where the
/// exact Jacobian's direction gives neither, or does not descend, the projected one's does; after ten iterations
/// without progress steps vary in length, so that iterates do not repeat. Linear systems are solved to a tolerance by
/// Eisenstat & Walker (1996), choice 2. `trace`: if given, gets the iterations.
NewtonReport solve_by_newton(NewtonProblem& problem, const NewtonOptions& options, Field& y,
                             NewtonTrace* trace = nullptr);

}  // namespace diffsim::dynamics
