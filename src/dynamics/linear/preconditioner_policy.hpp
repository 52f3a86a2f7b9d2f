// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim::dynamics {

/// Policy that decides which preconditioner the linear systems of a time step use, and when a new preconditioner is set
/// up.
///
/// There are two preconditioners: the reference preconditioner is computed once, at the start of a rollout, and shared
/// by the time steps; the main preconditioner is computed from a matrix of the present or of an earlier time step.
/// Setting up a preconditioner is assumed to cost as much as `setting_up` iterations of the Krylov method. The
/// reference preconditioner, and a main preconditioner that is reused for derivatives, remain in use until a solve
/// fails, or until the sum of (number of iterations - 1.25 · expected number of iterations) over the solves reaches
/// `setting_up`. The sum starts at zero in each time step and after the set-up of a new main preconditioner; a negative
/// sum of a main preconditioner is set to zero. A PreconditionerPolicy stores only numbers of iterations and flags; the
/// caller owns the preconditioners. All ranks must call the same functions of a PreconditionerPolicy with the same
/// arguments.
class PreconditionerPolicy {
 public:
  /// Assumed cost of the set-up of a preconditioner, in iterations of the Krylov method.
  static constexpr double setting_up = 25.0;

  /// Begins a rollout, for which no reference preconditioner (shared by the time steps) has been computed yet.
  void begin_rollout();
  /// Begins a time step. The matrices of the time step use the reference preconditioner of the rollout if
  /// `has_reference` is true, and otherwise a new preconditioner that is computed from the first matrix of the step.
  void begin_step(bool has_reference);
  /// Begins the derivatives of a time step. `begin_derivatives` first acts as `begin_step` if the rollout has a
  /// reference preconditioner (`has_reference`), if no preconditioner from a matrix of a time step exists (`has_main`
  /// is false), or if a new preconditioner is due. If the rollout has no reference preconditioner, the latest
  /// preconditioner from a matrix of a time step remains in use until a new preconditioner is due.
  void begin_derivatives(bool has_reference, bool has_main);
  /// Requests that a new preconditioner is computed from the next matrix of the time step.
  void renew() { renews_ = true; }
  /// Makes the linear systems of the present time step use a preconditioner that is computed from the matrices of time
  /// steps, instead of the reference preconditioner, which was computed at the start of the rollout.
  void leave_reference() { on_reference_ = false; }

  bool on_reference() const { return on_reference_; }
  /// Returns true if the latest preconditioner from a matrix of a time step must be replaced by a new preconditioner,
  /// which is computed from the next matrix.
  bool renews() const { return renews_; }
  /// Returns true if the linear systems of derivatives use the latest preconditioner that was computed from a matrix of
  /// a time step, perhaps of an earlier time step, instead of a new preconditioner.
  bool keeps() const { return keeps_ && !renews_; }

  /// Sets the number of Krylov iterations of a solve to the relative residual 1e-3 with the rollout's reference
  /// preconditioner and the matrix from which the reference preconditioner was computed.
  void set_reference_iterations(int iterations) { reference_iterations_ = iterations; }
  /// Returns the expected number of iterations of a solve to the relative residual `tolerance`: with the rollout's
  /// reference preconditioner if `on_reference()` is true, otherwise with the latest preconditioner from a matrix of a
  /// time step.
  double expected(double tolerance) const;
  /// Returns the maximum number of iterations of a solve that `record_shared` records: twice the sum of
  /// `expected(tolerance)` and `setting_up`.
  double most(double tolerance) const { return 2.0 * (expected(tolerance) + setting_up); }
  /// Records the number of iterations of a solve with a preconditioner that was computed from another matrix: the
  /// rollout's reference preconditioner or, while `keeps()` is true, the latest preconditioner from a matrix of a time
  /// step.
  void record_shared(bool converged, int iterations, double tolerance);
  /// Records a converged solve, of at least one iteration, with a preconditioner that was computed in the time step
  /// (not with the rollout's reference preconditioner). The first solve with a new preconditioner sets the number of
  /// iterations per decimal digit of the residual that is expected of later solves. If a later solve with the same
  /// preconditioner needs more than about twice the expected number of iterations per decimal digit, a new
  /// preconditioner is computed from the next matrix.
  void record_main(int iterations, double tolerance);

 private:
  bool on_reference_ = false;
  bool renews_ = true;
  bool keeps_ = false;
  int reference_iterations_ = 0;
  double extra_ = 0.0;  // iterations that a new preconditioner might have saved
  double rate_ = 0.0;   // iterations per decimal digit in the first solve with the main preconditioner
};

}  // namespace diffsim::dynamics
