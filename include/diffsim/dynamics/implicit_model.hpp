// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/dynamics/implicit_options.hpp"
#include "diffsim/dynamics/system_model.hpp"

namespace diffsim {

namespace dynamics {
class NewtonTrace;
struct NewtonReport;
}  // namespace dynamics

/// Cost of the implicit steps since `prepare`.
struct ImplicitStatistics {
  long steps = 0;
  long newton_iterations = 0;
  long linear_iterations = 0;
  long projections = 0;         ///< Newton iterations that needed the projected Hessian
  long obstructions = 0;        ///< Newton iterations whose motion contact cut
  long reductions = 0;          ///< Newton iterations whose step the line search made shorter still
  long changes_to_factors = 0;  ///< steps that went over from conjugate gradients to factors
  long held_rounds = 0;         ///< minimisations with friction held, where Newton's method made no progress
  long cuts = 0;                ///< times the load of a step was halved
  long derivative_solves = 0;
  long derivative_iterations = 0;  ///< linear, of these
  long indefinite = 0;  ///< of these, systems with negative eigenvalues: the motion is at an unstable state there
  long repeated_iterations = 0;  ///< Newton's, taken again for derivatives because records had no room for them
};

/// Implicit dynamics and statics of a System.
///
/// Step n finds the positions y with
///
///   M a(y) = f(x(y), v(y), p) + λ_n M g
///
/// in the components that are free, a, x, v being affine in y and the state (dynamics/time_rule.hpp); in statics M a is
/// left out. λ_n multiplies gravity and dead loads that have one value for all steps; see ImplicitOptions::ramp_steps.
/// Components that are fixed keep their positions, and have no velocity; vertices that are moved have the positions and
/// velocities of their motion at n+1; the accelerations of either are zero.
///
/// Newton's method minimises the incremental potential. A step is differentiated by the implicit function theorem: one
/// linear solve with the exact Jacobian at y, transposed in reverse. Records hold the state before a step, and y. Or,
/// if asked for, Newton's iterations are differentiated as they ran, one solve for each; then records hold the last
/// few of these too (ImplicitOptions::held_iterations), and earlier ones are taken again.
class ImplicitModel : public SystemModel {
 public:
  ImplicitModel(std::shared_ptr<System> system, double dt, const ImplicitOptions& options);
  ~ImplicitModel() override;

  const ImplicitOptions& options() const { return options_; }
  const ImplicitStatistics& statistics() const { return statistics_; }
  /// Relative residuals of the last step's Newton iterates, the start first.
  const std::vector<double>& last_residuals() const { return last_residuals_; }
  double solver_tolerance() const override { return options_.linear.tolerance; }
  /// Newton's iterations that are differentiated as they ran stay as many as they are.
  void tighten_solver(double factor) override;

  State make_state() const override;
  void prepare() override;
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void set_reversible(bool wanted) override;
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override;
  /// Throws Error (run) with step, reason and residuals where Newton's method fails.
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override;

 private:
  class Residual;
  class Step;
  struct Workspace;
  /// y: the start, then the solution of step n. Throws Error (run).
  void solve(Step& step, int n, Field& y, dynamics::NewtonTrace* trace);
  /// Goes on from y, where Newton's method has failed for want of a potential: by turns minimises the potential of the
  /// step with friction held at y, from y on, and tries Newton's method on the step's equation from there. Returns the
  /// last report of the equation's, as given where there is none.
  dynamics::NewtonReport solve_holding(Step& step, Field& y, dynamics::NewtonReport failed);
  void count(const dynamics::NewtonReport& report);

  ImplicitOptions options_;
  double newton_tolerance_, linear_tolerance_;  // as given
  ImplicitStatistics statistics_;
  std::vector<double> last_residuals_;
  std::unique_ptr<Workspace> work_;
};

}  // namespace diffsim
