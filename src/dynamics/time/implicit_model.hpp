// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/dynamics/integrator.hpp"
#include "dynamics/system_model.hpp"

namespace diffsim {

namespace dynamics {
class NewtonTrace;
class StepMemory;
struct NewtonReport;
}  // namespace dynamics

/// Counters of the cost of implicit steps since the last call of `prepare`, which resets all counters. The counters do
/// not influence the solver.
struct ImplicitStatistics {
  long steps = 0;
  long newton_iterations = 0;
  long linear_iterations = 0;
  long projections = 0;         ///< Newton iterations that used a projected Jacobian
  long obstructions = 0;        ///< Newton iterations whose step length contact reduced
  long reductions = 0;          ///< Newton iterations whose step length the line search reduced further
  long changes_to_factors = 0;  ///< steps that switched from conjugate gradients to a factorisation
  /// Minimisations of the potential with frozen friction, each after a failure of Newton's method.
  long held_rounds = 0;
  long cuts = 0;                   ///< number of times that the load increment of a step was halved
  long derivative_solves = 0;      ///< linear systems solved for derivatives
  long derivative_iterations = 0;  ///< iterations of the linear solver in `derivative_solves`
  long indefinite = 0;  ///< systems of `derivative_solves` with negative eigenvalues: the step's solution is unstable
  long repeated_iterations = 0;  ///< Newton iterations repeated for derivatives because records did not store them
};

/// Time stepper for implicit dynamics and for statics of a System.
///
/// Step n solves the following equation for the free components of the positions y at the end of the step:
///
///   M a(y) = f(x(y), v(y), p) + λ_n M g
///
/// M are the masses, f the forces, p the parameters and g is gravity. The accelerations a, positions x and velocities v
/// are linear combinations of y and the fields of the state (dynamics/time/time_rule.hpp). Statics omit M a. The factor
/// λ_n multiplies gravity and the dead loads that have one value for all steps; see ImplicitOptions::ramp_steps. Fixed
/// components keep their positions and have zero velocity. Vertices with a prescribed motion have the position and
/// velocity of this motion at the end of step n. Fixed components and vertices with a prescribed motion have zero
/// acceleration.
///
/// If the residual of the equation is the gradient of an incremental potential, Newton's method minimises this
/// potential. Otherwise Newton's method solves the equation directly. By default a step is differentiated by the
/// implicit function theorem: one linear solve with the exact Jacobian at y, or with its transpose for the adjoint. The
/// data stored for the derivatives of a step (Record) are the state before the step and the solution y. Alternatively
/// (ImplicitOptions::implicit_differentiation = false), Newton's iterations are differentiated as executed, with one
/// linear solve per iteration. In this case the Record also contains the last iterates
/// (ImplicitOptions::held_iterations). Derivatives recompute earlier iterates.
class ImplicitModel : public SystemModel {
 public:
  ImplicitModel(std::shared_ptr<System> system, Integrator integrator, double dt, const ImplicitOptions& options);
  ~ImplicitModel() override;

  const ImplicitOptions& options() const { return options_; }
  int ramp_steps() const override { return options_.ramp_steps; }
  const ImplicitStatistics& statistics() const { return statistics_; }
  /// Relative residual norm of each iterate of the last solve by Newton's method, beginning with the starting point.
  const std::vector<double>& last_residuals() const { return last_residuals_; }
  double solver_tolerance() const override { return options_.linear.tolerance; }
  /// Multiplies the given tolerances of Newton's method and of the linear systems of derivatives by `factor`, but to
  /// not less than 1e-13. No tolerance becomes larger than the given value. Does nothing if Newton's iterations are
  /// differentiated as executed, because the number of iterations must not change.
  void tighten_solver(double factor) override;
  void remember_steps(std::size_t bytes) override;

  State make_state() const override;
  void prepare() override;
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void set_reversible(bool wanted) override;
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override;
  /// Advances `state` by step n. Throws Error (run) if Newton's method fails; the message contains the number of the
  /// step, the reason and the relative residuals.
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override;

 private:
  class Residual;
  class Step;
  struct Workspace;
  /// Solves step n. `y`: starting point on entry, solution on return. `trace`: if not nullptr, receives the Newton
  /// iterations. Throws Error (run) if Newton's method fails.
  void solve(Step& step, int n, Field& y, dynamics::NewtonTrace* trace);
  /// Continues from y after Newton's method has failed on an equation without a potential. Alternates two solves: a
  /// minimisation of the potential of the step with friction frozen at y, starting from y; then Newton's method on the
  /// full equation of the step, starting from the minimum. Returns the report of the last solve of the full equation,
  /// or `failed` if the first minimisation does not converge.
  dynamics::NewtonReport solve_holding(Step& step, Field& y, dynamics::NewtonReport failed);
  void count(const dynamics::NewtonReport& report);
  /// Returns a checksum of the parameters and of `System::changes`. The solution of step n depends only on these values
  /// and on the state.
  std::uint64_t checksum_of_inputs() const;
  /// Throws Error (input) if the integrator or the options do not support rigid bodies and joints.
  void require_constraints_supported() const;

  Integrator integrator_;
  ImplicitOptions options_;
  double newton_tolerance_, linear_tolerance_;  // as given in the options
  ImplicitStatistics statistics_;
  std::vector<double> last_residuals_;
  std::unique_ptr<Workspace> work_;
  std::unique_ptr<dynamics::StepMemory> memory_;
};

}  // namespace diffsim
