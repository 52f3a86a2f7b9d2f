// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim::dynamics {

/// Policy that decides which preconditioner the linear systems of a time step use, and when a new preconditioner is set
/// up.
///
/// There are two preconditioners. All steps of a rollout share the reference preconditioner. The main preconditioner,
/// unlike the reference preconditioner of a rollout, was computed for a matrix of the present or an earlier time step.
/// Setting up a preconditioner is assumed to cost as much as `setting_up` iterations of the Krylov method. The
/// reference preconditioner, and for derivatives a main preconditioner that was computed for another matrix, is used
/// until a solve fails, or until the sum of (number of iterations - 1.25 · expected number of iterations) over the
/// solves reaches `setting_up`. A PreconditionerPolicy stores only numbers of iterations and flags; the caller owns the
/// preconditioners. All ranks must call the same functions of a PreconditionerPolicy with the same arguments.
class PreconditionerPolicy {
 public:
  /// Assumed cost of the set-up of a preconditioner, in iterations of the Krylov method.
  static constexpr double setting_up = 25.0;

  /// Begins a rollout, without a reference preconditioner.
  void begin_rollout();
  /// Begins a time step. The matrices of the time step use the reference preconditioner if `has_reference` is true, and
  /// otherwise a new main preconditioner.
  void begin_step(bool has_reference);
  /// Begins the derivatives of a time step. If a reference preconditioner exists, if no main preconditioner exists, or
  /// if a new main preconditioner is due, `begin_derivatives` first acts as `begin_step`. If no reference
  /// preconditioner exists, an existing main preconditioner remains in use until a new main preconditioner is due.
  void begin_derivatives(bool has_reference, bool has_main);
  /// Requests that the main preconditioner (not the reference preconditioner) is computed again, from the next matrix.
  void renew() { renews_ = true; }
  /// Makes the linear systems of the present time step use the main preconditioner instead of the reference
  /// preconditioner.
  void leave_reference() { on_reference_ = false; }

  bool on_reference() const { return on_reference_; }
  /// Returns true if the main preconditioner (not the reference preconditioner) must be computed again, from the next
  /// matrix.
  bool renews() const { return renews_; }
  /// Returns true if the linear systems of derivatives use the existing main preconditioner, which may have been
  /// computed in an earlier time step, instead of a new preconditioner.
  bool keeps() const { return keeps_ && !renews_; }

  /// Sets the number of Krylov iterations that a solve to the relative residual 1e-3 needs if the matrix is the one
  /// from which the reference preconditioner, shared by all steps of a rollout, was computed.
  void set_reference_iterations(int iterations) { reference_iterations_ = iterations; }
  /// Returns the number of iterations that a solve to the relative residual `tolerance` is expected to need, with the
  /// reference preconditioner if `on_reference()`, and otherwise with the main preconditioner.
  double expected(double tolerance) const;
  /// Returns the maximum number of iterations of a solve with a preconditioner that was computed for another matrix:
  /// twice the sum of `expected(tolerance)` and `setting_up`.
  double most(double tolerance) const { return 2.0 * (expected(tolerance) + setting_up); }
  /// Records the number of iterations of a solve with a preconditioner that was computed for another matrix: the
  /// reference preconditioner or, while `keeps()` is true, the main preconditioner.
  void record_shared(bool converged, int iterations, double tolerance);
  /// Records a converged solve of at least one iteration with the main preconditioner (not the reference
  /// preconditioner). The first solve with a new preconditioner sets the number of iterations per decimal digit of the
  /// residual that is expected of later solves. If a later solve with the same preconditioner needs more than about
  /// twice the expected number of iterations per decimal digit, a new preconditioner is computed from the next matrix.
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
