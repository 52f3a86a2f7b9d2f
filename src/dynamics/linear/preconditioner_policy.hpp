// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim::dynamics {

/// Policy that decides which preconditioner the linear systems of a time step use, and when a new preconditioner is set
/// up.
///
/// There are two preconditioners. All steps of a rollout share the reference preconditioner. The main preconditioner
/// was computed for a matrix of this or an earlier time step. Setting up a preconditioner is assumed to cost as much as
/// `setting_up` iterations. A preconditioner that was computed for another matrix is used until the number of
/// iterations in excess of the expected number is larger than `setting_up`. Objects of this class store only numbers of
/// iterations and flags; the caller owns the preconditioners. All ranks make the same calls.
class PreconditionerPolicy {
 public:
  /// Assumed cost of the set-up of a preconditioner, in iterations of the Krylov method.
  static constexpr double setting_up = 25.0;

  /// Begins a rollout, without a reference preconditioner.
  void begin_rollout();
  /// Begins a time step. The matrices of the time step use the reference preconditioner, if there is one, and otherwise
  /// a new main preconditioner.
  void begin_step(bool has_reference);
  /// Begins the derivatives of a time step. If there is a reference preconditioner or no main preconditioner, or if a
  /// new main preconditioner is due, acts as `begin_step`. Otherwise the main preconditioner remains in use.
  void begin_derivatives(bool has_reference, bool has_main);
  /// Requests a new main preconditioner for the next matrix.
  void renew() { renews_ = true; }
  /// Makes the systems of the present time step use the main preconditioner instead of the reference preconditioner.
  void leave_reference() { on_reference_ = false; }

  bool on_reference() const { return on_reference_; }
  /// Returns true if the next matrix gets a new main preconditioner.
  bool renews() const { return renews_; }
  /// Returns true if the systems of derivatives use the present main preconditioner, which may have been computed in an
  /// earlier time step.
  bool keeps() const { return keeps_ && !renews_; }

  /// Sets the number of iterations in which the reference preconditioner reduced the relative residual to 1e-3, for the
  /// matrix from which the reference preconditioner was computed.
  void set_reference_iterations(int iterations) { reference_iterations_ = iterations; }
  /// Returns the number of iterations that a solve to the relative residual `tolerance` is expected to need, with the
  /// reference preconditioner if `on_reference()`, and otherwise with the main preconditioner.
  double expected(double tolerance) const;
  /// Returns the maximum number of iterations with a preconditioner that was computed for another matrix: 2 (expected +
  /// `setting_up`).
  double most(double tolerance) const { return 2.0 * (expected(tolerance) + setting_up); }
  /// Records the number of iterations of a solve with a preconditioner that was computed for another matrix: the
  /// reference preconditioner or, while `keeps()` is true, the main preconditioner.
  void record_shared(bool converged, int iterations, double tolerance);
  /// Records a converged solve of at least one iteration with the main preconditioner. The first solve with a new main
  /// preconditioner sets the expected rate, in iterations per decimal digit of the residual. If a later solve needs
  /// more than about twice as many iterations per digit, the next matrix gets a new main preconditioner.
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
