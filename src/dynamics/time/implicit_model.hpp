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

/// Counters of the cost of implicit steps since the last call of `prepare`, which resets all counters. The counters of
/// ImplicitStatistics do not influence the solver.
struct ImplicitStatistics {
  long steps = 0;
  long newton_iterations = 0;
  long linear_iterations = 0;
  /// Number of Newton iterations with a projected Jacobian, in which element contributions of contact or of all force
  /// terms were made positive semidefinite.
  long projections = 0;
  /// Number of line searches whose step length collision detection reduced.
  long obstructions = 0;
  /// Number of Newton iterations whose step length the line search reduced below the length that collision detection
  /// permits.
  long reductions = 0;
  /// Number of steps that switched from a Krylov method to factorisation.
  long changes_to_factors = 0;
  /// Number of minimisations of the incremental potential with frozen friction, each after a failure of Newton's
  /// method.
  long held_rounds = 0;
  /// Number of times that the load increment of a step was halved.
  long cuts = 0;
  /// Number of linear systems solved for derivatives of steps.
  long derivative_solves = 0;
  /// Number of iterations of the linear solver in all linear systems solved for derivatives.
  long derivative_iterations = 0;
  /// Number of linear systems of derivatives in which the matrix has negative eigenvalues. The solution of the step is
  /// then unstable.
  long indefinite = 0;
  /// Number of Newton iterations that were repeated for derivatives, because the steps' `Record` objects did not store
  /// the iterates.
  long repeated_iterations = 0;
};

/// Time stepper for implicit dynamics and for statics of a System.
///
/// The free components of the positions y at the end of step n solve the equation
///   M a(y) = f(y, v(y), p) + λ_n M g
/// with the masses M, accelerations a, forces f, velocities v, parameters p, gravity g and the load factor λ_n of step
/// n. The accelerations a and velocities v are linear combinations of y and of the fields of the state before the step
/// (dynamics/time/time_rule.hpp). In statics, the inertial term M a is omitted. The load
/// factor λ_n multiplies gravity and the dead loads that have one value for all steps; see ImplicitOptions::ramp_steps.
/// Fixed components keep their positions and have zero velocity. At the end of step n, vertices with a prescribed
/// motion have the position and velocity of the prescribed motion. Fixed components and vertices with a prescribed
/// motion have zero acceleration.
///
/// If the residual of the equation is the gradient of an incremental potential, Newton's method minimises this
/// potential; otherwise Newton's method solves the equation directly.
///
/// By default a step is differentiated by the implicit function theorem. The tangent requires the solution of one
/// linear system with the exact Jacobian at the solution y of the step; the adjoint requires the solution of one linear
/// system with the transposed Jacobian. The data stored for the derivatives of a step (Record) are the state before the
/// step and the solution y. If ImplicitOptions::implicit_differentiation is false, Newton's iterations are
/// differentiated as executed, with one linear solve per iteration; the Record then also stores the last iterates, at
/// most ImplicitOptions::held_iterations, and earlier iterates are computed again for derivatives.
class ImplicitModel : public SystemModel {
 public:
  ImplicitModel(std::shared_ptr<System> system, Integrator integrator, double dt, const ImplicitOptions& options);
  ~ImplicitModel() override;

  const ImplicitOptions& options() const { return options_; }
  int ramp_steps() const override { return options_.ramp_steps; }
  const ImplicitStatistics& statistics() const { return statistics_; }
  /// Relative residual norms of all iterates of the last solve by Newton's method, beginning with the starting point.
  const std::vector<double>& last_residuals() const { return last_residuals_; }
  double solver_tolerance() const override { return options_.linear.tolerance; }
  /// Sets each tolerance of Newton's method and of the linear systems of derivatives to min(τ, max(`factor` τ, 1e-13)),
  /// where τ is the tolerance given in `ImplicitOptions`. `tighten_solver` does nothing if Newton's iterations are
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
  /// Solves the equation of time step n by Newton's method. `y`: starting point of Newton's method on entry, solution
  /// on return. `trace`: if not nullptr, receives the Newton iterations. Throws Error (run) if Newton's method fails.
  void solve(Step& step, int n, Field& y, dynamics::NewtonTrace* trace);
  /// Continues the solution of a step from the positions y after Newton's method has failed on an equation without a
  /// potential. Alternates two solves: a minimisation of the potential of the step with friction frozen at the
  /// positions y, starting from y; then Newton's method for the full equation of the step, starting from the minimum.
  /// Returns the report of the last solve of the full equation, or `failed`, the report of the failure of Newton's
  /// method, if the first minimisation does not converge.
  dynamics::NewtonReport solve_holding(Step& step, Field& y, dynamics::NewtonReport failed);
  void count(const dynamics::NewtonReport& report);
  /// Returns a checksum of the parameters and of the counter `System::changes`. The solution of step n depends only on
  /// n, on the state before the step, on the parameters and on the parts of the System, whose changes `System::changes`
  /// counts.
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
