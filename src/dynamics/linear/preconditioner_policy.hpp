// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim::dynamics {

/// Policy that decides which preconditioner the systems of a step use, and when a new preconditioner is made.
///
/// There are two preconditioners. All steps of a rollout share the reference preconditioner. The main preconditioner
/// was made for a matrix of this or an earlier step. Setting up a preconditioner costs as much as `setting_up`
/// iterations. A preconditioner that was made for another matrix is used until its extra iterations exceed this cost.
/// Objects of this class contain integers and rates only; the caller owns the preconditioners. All ranks make the same
/// calls.
class PreconditionerPolicy {
 public:
  static constexpr double setting_up = 25.0;  ///< cost of a set-up, in iterations

  /// Begins a rollout, without a reference preconditioner.
  void begin_rollout();
  /// Begins a step. The matrices of the step use the reference preconditioner, if there is one, and otherwise a new
  /// main preconditioner.
  void begin_step(bool has_reference);
  /// Begins the derivatives of a step. An existing main preconditioner remains in use. If there is a reference
  /// preconditioner, or if a new main preconditioner is due, acts as `begin_step`.
  void begin_derivatives(bool has_reference, bool has_main);
  /// Requests a new main preconditioner for the next matrix.
  void renew() { renews_ = true; }
  /// Stops the use of the reference preconditioner.
  void leave_reference() { on_reference_ = false; }

  bool on_reference() const { return on_reference_; }
  /// Returns true if the next matrix gets a new main preconditioner.
  bool renews() const { return renews_; }
  /// Returns true if derivatives use a main preconditioner that was made before the derivatives began.
  bool keeps() const { return keeps_ && !renews_; }

  /// Sets the number of iterations in which the reference preconditioner reduced the residual to 1e-3, for the matrix
  /// that this preconditioner was made from.
  void set_reference_iterations(int iterations) { reference_iterations_ = iterations; }
  /// Number of iterations expected for a reduction of the residual to `tolerance`, with the reference preconditioner if
  /// in use, and otherwise with the main preconditioner.
  double expected(double tolerance) const;
  /// Maximum number of iterations with a preconditioner that was made for another matrix: 2 (expected + `setting_up`).
  double most(double tolerance) const { return 2.0 * (expected(tolerance) + setting_up); }
  /// Records a solve with the reference preconditioner, or with a main preconditioner that was made before the
  /// derivatives began.
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
  double rate_ = 0.0;   // iterations per digit of the first solve with the main preconditioner
};

}  // namespace diffsim::dynamics
