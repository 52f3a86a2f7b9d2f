// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/implicit_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "core/broadcast.hpp"
#include "core/mix_bits.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "dynamics/support.hpp"
#include "dynamics/time/implicit_step.hpp"
#include "dynamics/time/step_memory.hpp"
#include "dynamics/vector_kernels.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

/// Record of an implicit step: the state at the beginning of the step, the solution y, and the last Newton iterations
/// if Newton's iterations are differentiated.
class ImplicitRecord : public Record {
 public:
  /// `room`: maximum number of Newton iterations that the trace stores.
  ImplicitRecord(State initial, Field positions, int room)
      : initial_(std::move(initial)), positions_(std::move(positions)), trace_(room) {}
  const State& initial() const override { return initial_; }
  const Field& positions() const { return positions_; }
  void save(const State& initial, const Field& positions, int iterations) {
    initial_.copy_from(initial);
    positions_.copy_from(positions);
    iterations_ = iterations;
  }
  /// Number of Newton iterations of the step if Newton's iterations are differentiated, otherwise 0.
  int iterations() const { return iterations_; }
  /// Newton iterations that the record stores. If a derivative needs an iteration that is not stored, Newton's method
  /// is repeated, and the repeated iterations replace the stored iterations.
  NewtonTrace& trace() const { return trace_; }

 private:
  State initial_;
  Field positions_;
  int iterations_ = 0;
  mutable NewtonTrace trace_;
};

/// Returns the text of the lowest rank whose text is not empty, or an empty string if all texts are empty. Collective.
std::string first_text(MPI_Comm comm, const std::string& text) {
  int first = std::numeric_limits<int>::max();
  const int mine = text.empty() ? first : rank_of(comm);
  DIFFSIM_MPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == std::numeric_limits<int>::max()) return {};
  std::string result = text;
  broadcast_text(result, comm, first);
  return result;
}

std::string residual_text(const std::vector<double>& residuals) {
  std::string text;
  const std::size_t most = 12, begin = residuals.size() > most ? residuals.size() - most : 0;
  for (std::size_t i = begin; i < residuals.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof(number), "%s%.2g", i == begin ? (begin > 0 ? "…, " : "") : ", ", residuals[i]);
    text += number;
  }
  return text;
}

/// Returns the largest number of unknowns, those of affine bodies and rotors included, for which a matrix is factored.
/// See `LinearOptions::direct_below`.
int largest_factored(int direct_below, const TetrahedralMesh& mesh) {
  std::int64_t of_affine_bodies = 0;
  for (const MeshBody& body : mesh.bodies()) of_affine_bodies += body.affine ? 12 : is_rotor(body) ? 3 : 0;
  constexpr std::int64_t most = 20;
  return static_cast<int>(
      std::min<std::int64_t>({most * direct_below, direct_below + of_affine_bodies, std::numeric_limits<int>::max()}));
}

}  // namespace

ImplicitModel::ImplicitModel(std::shared_ptr<System> system, Integrator integrator, double dt,
                             const ImplicitOptions& options)
    : SystemModel(std::move(system), dt),
      integrator_(integrator),
      options_(options),
      newton_tolerance_(options.newton.tolerance),
      linear_tolerance_(options.linear.tolerance),
      memory_(std::make_unique<StepMemory>()) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw Error(what, ErrorKind::input);
  };
  require(!is_explicit(integrator_), std::string(name_of(integrator_)) + " is not an implicit integrator");
  require(options_.beta > 0.0, "newmark needs beta > 0; 0.25 is average acceleration");
  require(options_.gamma >= 0.5, "newmark needs gamma >= 0.5; smaller values are unstable");
  require(options_.spectral_radius >= 0.0 && options_.spectral_radius <= 1.0, "spectral_radius is outside [0, 1]");
  require(options_.held_iterations > 0, "held_iterations must be positive");
  require(options_.newton.tolerance > 0.0 && options_.linear.tolerance > 0.0, "solver tolerances must be positive");
  options_.newton.try_exact = !options_.implicit_differentiation;
  options_.linear.direct_below = largest_factored(options_.linear.direct_below, system_->mesh());
  work_ = std::make_unique<Workspace>(system_->mesh(), options_);
  double size = 0.0;
  for (const double x : system_->mesh().rest_positions()) size = std::max(size, std::abs(x));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, comm()));
  work_->extent = size;
}

ImplicitModel::~ImplicitModel() = default;

State ImplicitModel::make_state() const { return system_->make_state(state_fields(integrator_)); }

void ImplicitModel::tighten_solver(double factor) {
  constexpr double least = 1e-13;  // rounding dominates below this tolerance
  if (!options_.implicit_differentiation) return;
  options_.newton.tolerance = std::min(newton_tolerance_, std::max(factor * newton_tolerance_, least));
  options_.linear.tolerance = std::min(linear_tolerance_, std::max(factor * linear_tolerance_, least));
  memory_->clear();
}

void ImplicitModel::remember_steps(std::size_t bytes) {
  // If Newton's iterations are differentiated, records need the iterations and not only the solutions.
  memory_->set_limit(options_.implicit_differentiation ? bytes : 0);
}

std::uint64_t ImplicitModel::checksum_of_inputs() const {
  std::uint64_t sum = system_->changes();
  for (const auto& parameter : system_->parameters()) sum = mix_bits(sum ^ checksum_of(parameter.field));
  return sum;
}

void ImplicitModel::set_reversible(bool wanted) {
  if (wanted)
    throw Error(std::string("integrator: ") + name_of(integrator_) +
                    " is implicit: its steps cannot be reversed exactly; use symplectic_euler, or a checkpoint "
                    "schedule other than reversible",
                ErrorKind::input);
}

void ImplicitModel::prepare() {
  SystemModel::prepare();
  if (!system_->impacts().empty())
    throw Error("the contact law impact needs an explicit integrator; use the law barrier or penalty in implicit steps",
                ErrorKind::input);
  if (system_->constraints()) {
    require_constraints_supported();
    work_->linear.set_constraints(*system_->constraints());
  }
  work_->linear.set_fixed(system_->fixed());
  if (memory_->is_enabled()) memory_->set_key(checksum_of_inputs());
  work_->take(system_->terms());
  if (work_->num_terms != system_->terms().size()) work_->common.reset();  // its pattern lacks blocks of the new terms
  work_->num_terms = system_->terms().size();
  if (options_.linear.matrix_free && !work_->symmetric)
    throw Error(
        "linear: operator: matrix_free needs a symmetric Jacobian; friction and viscosity make the Jacobian "
        "unsymmetric; use assembled",
        ErrorKind::input);
  statistics_ = {};
  const bool held = std::any_of(system_->terms().begin(), system_->terms().end(),
                                [](const auto& term) { return term->holds_body(); });
  if (integrator_ == Integrator::quasi_static && !held && !system_->constraints())
    require_support(system_->mesh(), system_->fixed());
}

void ImplicitModel::require_constraints_supported() const {
  const auto refuse = [](bool wrong, const std::string& what) {
    if (wrong) throw Error("rigid bodies and joints do not support " + what, ErrorKind::input);
  };
  // Newmark's formulas reverse the signs of the errors of constrained velocities in each step and do not damp them.
  refuse(integrator_ == Integrator::newmark,
         "integrator newmark; use generalised_alpha, bdf2 or implicit_euler, or velocity_verlet or symplectic_euler "
         "with explicit steps");
  refuse(integrator_ == Integrator::generalised_alpha && options_.spectral_radius == 1.0,
         "integrator generalised_alpha with spectral_radius 1, which does not damp errors of constrained velocities; "
         "use a smaller spectral_radius");
  refuse(!options_.implicit_differentiation, "implicit_differentiation: false; use true");
  refuse(options_.linear.matrix_free, "linear: operator: matrix_free; use assembled");
}

std::unique_ptr<Record> ImplicitModel::make_record() const {
  return std::make_unique<ImplicitRecord>(make_state(), system_->local_field("positions"), options_.held_iterations);
}

std::size_t ImplicitModel::record_bytes() const {
  const std::size_t positions = system_->local_field("positions").bytes();
  const int iterates =
      options_.implicit_differentiation ? 0 : std::clamp(options_.newton.max_iterations, 0, options_.held_iterations);
  return make_state().bytes() + (1 + static_cast<std::size_t>(iterates)) * positions;
}

void ImplicitModel::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step");
  Step step(*this, n, state);
  Field y = system_->scratch_field("positions");
  y.copy_from(state["positions"]);
  step.satisfy_constraints(y);
  auto* const recorded = static_cast<ImplicitRecord*>(record);
  NewtonTrace* const trace = recorded && !options_.implicit_differentiation ? &recorded->trace() : nullptr;
  if (trace) trace->clear();
  if (!memory_->find(comm(), n, state, y)) {
    solve(step, n, y, trace);
    memory_->add(n, state, y);
  }
  ++statistics_.steps;
  if (recorded) recorded->save(state, y, trace ? trace->count() : 0);
  step.advance(y, state);
}

void ImplicitModel::count(const NewtonReport& report) {
  statistics_.newton_iterations += report.iterations;
  statistics_.linear_iterations += report.linear_iterations;
  statistics_.projections += report.projections;
  statistics_.obstructions += report.obstructions;
  statistics_.reductions += report.reductions;
}

NewtonReport ImplicitModel::solve_holding(Step& step, Field& y, NewtonReport failed) {
  constexpr int most_rounds = 60;
  NewtonOptions minimum = options_.newton, whole = options_.newton;
  minimum.tolerance = std::max(1e-6, options_.newton.tolerance);
  whole.max_stalled = std::min(8, options_.newton.max_stalled);
  NewtonReport report = std::move(failed);
  for (int round = 0; round < most_rounds && !report.converged; ++round) {
    ++statistics_.held_rounds;
    NewtonReport held;
    {
      struct Hold {
        Step& step;
        Hold(Step& of, const Field& y) : step(of) { step.hold(&y); }
        ~Hold() { step.hold(nullptr); }
      } hold(step, y);
      held = solve_by_newton(step, minimum, y);
    }
    count(held);
    if (!held.converged) return report;
    report = solve_by_newton(step, whole, y);
    count(report);
    if (report.linear_failure) return report;
  }
  return report;
}

void ImplicitModel::solve(Step& step, int n, Field& y, NewtonTrace* trace) {
  const int max_cuts = options_.implicit_differentiation ? options_.newton.max_cuts : 0;
  // Attempts the whole load first. After a failure, the load grows in parts: from the fraction `reached` to
  // `reached` + `part`.
  work_->linear.renew_preconditioner();
  long changes = work_->linear.changes_to_factors();
  double reached = 0.0, part = 1.0;
  Field start = y.clone();
  step.set_progress(0.0);
  for (int cuts = 0; reached < 1.0;) {
    const double goal = std::min(1.0, reached + part);
    if (goal < 1.0 || reached > 0.0) step.set_homotopy(goal);
    NewtonReport report = solve_by_newton(step, options_.newton, y, trace);
    count(report);
    const bool may_hold = options_.implicit_differentiation && !step.has_potential() && system_->can_split();
    if (!report.converged && !report.linear_failure && may_hold) report = solve_holding(step, y, report);
    statistics_.changes_to_factors +=
        work_->linear.changes_to_factors() - std::exchange(changes, work_->linear.changes_to_factors());
    last_residuals_ = report.residuals;
    const bool arrived = step.progress() >= step.progress_goal();
    if (report.converged || (report.exhausted && !options_.implicit_differentiation && arrived)) {
      reached = goal;
      start.copy_from(y);
      continue;
    }
    if (cuts == max_cuts) {
      const bool is_free =
          report.linear_failure && integrator_ == Integrator::quasi_static && system_->constraints() != nullptr;
      const std::string limiting = first_text(comm(), step.limiting());
      throw Error("step " + std::to_string(n) + ": Newton's method failed in iteration " +
                      std::to_string(report.iterations) + ": " + report.reason + "; relative residuals " +
                      residual_text(report.residuals) +
                      (limiting.empty() ? "" : "; the last step length was limited by " + limiting) +
                      (cuts > 0 ? "; the step's load was halved " + std::to_string(cuts) + " times" : "") +
                      (is_free ? "; in statics, joints with springs or targets, attachments or contact with friction "
                                 "must hold each body"
                       : report.linear_failure
                           ? "; choose another solver under petsc: (ksp_type, pc_type), raise its ksp_max_it, or use a "
                             "smaller dt"
                           : "; use a smaller dt, more steps for the load, or other solver options"),
                  ErrorKind::run);
    }
    ++cuts;
    ++statistics_.cuts;
    part *= 0.5;
    y.copy_from(start);
    step.set_progress(reached);
  }
}

void ImplicitModel::step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step_tangent");
  const auto& recorded = static_cast<const ImplicitRecord&>(record);
  Step step(*this, n, recorded.initial());
  if (options_.implicit_differentiation)
    step.tangent(recorded.positions(), direction, tangent);
  else
    step.unrolled_tangent(recorded.iterations(), recorded.trace(), recorded.positions(), direction, tangent);
}

void ImplicitModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step_adjoint");
  const auto& recorded = static_cast<const ImplicitRecord&>(record);
  Step step(*this, n, recorded.initial());
  if (options_.implicit_differentiation)
    step.adjoint(recorded.positions(), adjoint, gradient);
  else
    step.unrolled_adjoint(recorded.iterations(), recorded.trace(), recorded.positions(), adjoint, gradient);
}

void ImplicitModel::step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent,
                                         const ParameterSet& direction, const AdjointPair& pair) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step_adjoint_tangent");
  const auto& recorded = static_cast<const ImplicitRecord&>(record);
  Step step(*this, n, recorded.initial());
  Field w = system_->scratch_field("w");
  step.adjoint(recorded.positions(), pair.adjoint, pair.gradient, &w);
  step.adjoint_tangent(recorded.positions(), w, tangent, direction, pair.adjoint_tangent, pair.gradient_tangent);
}

}  // namespace diffsim
