// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/implicit_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "diffsim/core/block_matrix_impl.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "dynamics/linear_system.hpp"
#include "dynamics/matrix_share.hpp"
#include "dynamics/newton.hpp"
#include "dynamics/step_equation.hpp"
#include "dynamics/support.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

constexpr std::int32_t nothing_invalid = std::numeric_limits<std::int32_t>::max();

/// The state a step began with, and the positions it found.
class ImplicitRecord : public Record {
 public:
  ImplicitRecord(State initial, Field positions) : initial_(std::move(initial)), positions_(std::move(positions)) {}
  const State& initial() const override { return initial_; }
  const Field& positions() const { return positions_; }
  /// Newton's iterations, where they are differentiated.
  const std::vector<NewtonIteration>& iterations() const { return iterations_; }
  void save(const State& initial, const Field& positions, std::vector<NewtonIteration> iterations) {
    initial_.copy_from(initial);
    positions_.copy_from(positions);
    iterations_ = std::move(iterations);
  }

 private:
  State initial_;
  Field positions_;
  std::vector<NewtonIteration> iterations_;
};

/// Σ K_ii² over the owned vertices' own shares.
double diagonal_square(int vertices, const DeviceArray<int>& diagonal, const double* values) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::diagonal_square", Range(0, vertices),
      KOKKOS_LAMBDA(int v, double& s) {
        for (int c = 0; c < 3; ++c) {
          const double k = values[9 * static_cast<std::ptrdiff_t>(diagonal(v)) + 4 * c];
          s += k * k;
        }
      },
      sum);
  return sum;
}

/// The text of the first rank that has one. Collective.
std::string first_text(MPI_Comm comm, const std::string& text) {
  int rank = 0, first = std::numeric_limits<int>::max();
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  const int mine = text.empty() ? first : rank;
  DIFFSIM_MPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == std::numeric_limits<int>::max()) return {};
  auto size = static_cast<int>(text.size());
  DIFFSIM_MPI(MPI_Bcast(&size, 1, MPI_INT, first, comm));
  std::string result = text;
  result.resize(static_cast<std::size_t>(size));
  DIFFSIM_MPI(MPI_Bcast(result.data(), size, MPI_CHAR, first, comm));
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

}  // namespace

struct ImplicitModel::Workspace {
  Workspace(const TetrahedralMesh& mesh, const ImplicitOptions& options)
      : linear(mesh, options.linear), invalid_cell("diffsim::dynamics::invalid_cell", 1) {
    Kokkos::deep_copy(invalid_cell, nothing_invalid);
  }
  LinearSystem linear;
  DeviceArray<std::int32_t> invalid_cell;
  /// The terms whose couplings do not vary; then each of the others.
  std::unique_ptr<MatrixShare> common;
  struct Varying {
    ForceTerm* term;
    std::unique_ptr<MatrixShare> share;
  };
  std::vector<Varying> varying;
  std::vector<MatrixShare*> shares() {
    std::vector<MatrixShare*> all{common.get()};
    for (const Varying& part : varying) all.push_back(part.share.get());
    return all;
  }
  bool symmetric = true, has_potential = true;
  double extent = 1.0;  // of the mesh's coordinates, m
};

/// One step: the equation R(y) = 0 at given state and parameters, and its derivatives.
class ImplicitModel::Step : public NewtonProblem, public StepEquation {
 public:
  Step(ImplicitModel& model, int n, const State& state)
      : StepEquation(make_time_rule(model.options_, model.dt(), n), n, 3 * model.mesh().num_owned_vertices()),
        model_(model),
        work_(*model.work_),
        state_(state),
        load_factor_(model.options_.ramp_steps > 0
                         ? std::min(1.0, (n + 1.0) / static_cast<double>(model.options_.ramp_steps))
                         : 1.0),
        position_history_(model.local_field("position_history")),
        velocity_history_(model.local_field("velocity_history")),
        inertia_(model.local_field("inertia")),
        prescribed_(model.local_field("prescribed_positions")),
        prescribed_velocities_(model.local_field("prescribed_velocities")),
        moves_(std::any_of(model.terms().begin(), model.terms().end(),
                           [&](const auto& term) { return term->moves(n, model.parameters()); })),
        positions_(model.local_field("positions_of_forces")),
        velocities_(model.local_field("velocities_of_forces")),
        force_(model.local_field("force")) {
    combine_state(rule_.position, state, position_history_);
    combine_state(rule_.velocity, state, velocity_history_);
    combine_state(rule_.acceleration, state, inertia_);
    copy_fixed(count_, model.fixed(), state["positions"], prescribed_);
    model.apply_motions(n, 0.0, model.dt(), state["positions"], prescribed_, prescribed_velocities_);
    // M (a_history - λ g), the part of the residual that does not depend on y.
    const Parameter& gravity = model.parameters().at("gravity");
    Field acceleration = model.local_field("acceleration");
    copy_values(count_, inertia_, acceleration);
    inertia_.fill(0.0);
    add_mass_times(count_, 1.0, model.mass(), acceleration, inertia_);
    add_mass_times_vector(count_, -load_factor(gravity), model.mass(), gravity.field.data() + 3 * gravity.offset(n),
                          inertia_);
  }

  const State& state() const override { return state_; }
  double load_factor(const Parameter& load) const override { return load.steps == 1 ? load_factor_ : 1.0; }

  /// The rule's `next` fields from y; prescribed components have the velocities of their motion and no acceleration.
  void advance(const Field& y, State& next) const {
    const State& old = state_;
    State result = next.zero_like();
    for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
      Field& field = result.fields()[k];
      combine_state(rule_.next[k], old, field);
      add_scaled(count_, rule_.next[k].y, y, field);
      if (is_rate(k)) keep_free(count_, model_.fixed(), field);
    }
    copy_fixed(count_, model_.fixed(), prescribed_velocities_, result["velocities"]);
    result.fields()[0].copy_from(y);
    next.copy_from(result);
    model_.synchronise(next);
  }

  // ---- NewtonProblem ----

  bool has_potential() const override { return work_.has_potential; }
  bool solves_exactly() override { return work_.common && work_.linear.factors(); }
  double rounding() const override { return rounding_; }

  Evaluation evaluate(const Field& y, Field& residual) override {
    const ProfilingRegion region("diffsim::dynamics::evaluate");
    const Configuration at = configuration(y, work_.invalid_cell.data());
    model_.compute_force(at, force_);
    Field& a = acceleration_of(y);
    // R² over free components, (M a)², f², Φ, whether a cell is invalid.
    double sums[5] = {0.0, dot_values(count_, a, a), dot_values(count_, force_, force_), 0.0, 0.0};
    copy_values(count_, a, residual);
    add_scaled(count_, -1.0, force_, residual);
    if (shift_) add_scaled(count_, homotopy_ - 1.0, *shift_, residual);
    keep_free(count_, model_.fixed(), residual);
    sums[0] = dot_values(count_, residual, residual);
    if (work_.has_potential) {
      double energy = 0.0;
      for (const auto& term : model_.terms()) energy += term->energy(at, model_.parameters());
      sums[3] = potential(y, energy);
    }
    std::int32_t invalid = nothing_invalid;
    Kokkos::deep_copy(Kokkos::View<std::int32_t, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&invalid),
                      Kokkos::subview(work_.invalid_cell, 0));
    sums[4] = invalid != nothing_invalid;
    if (invalid != nothing_invalid) Kokkos::deep_copy(work_.invalid_cell, nothing_invalid);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, model_.comm()));
    Evaluation result;
    result.valid = sums[4] == 0.0 && std::isfinite(sums[0] + sums[1] + sums[2] + sums[3]);
    result.residual = std::sqrt(sums[0]);
    result.scale = std::sqrt(std::max(sums[1], sums[2]));
    result.potential = sums[3];
    return result;
  }

  double find_gap(const Field& y, Field& gap) override {
    copy_values(count_, y, gap);
    scale(-1.0, gap);
    add_scaled(count_, homotopy_, prescribed_, gap);
    add_scaled(count_, 1.0 - homotopy_, state_["positions"], gap);
    keep_fixed(count_, model_.fixed(), gap);
    model_.mesh().halo().copy_to_ghosts(gap);
    return largest(gap);
  }

  LinearReport find_direction(const Field& y, const Field& residual, const Field& gap, double tolerance, bool project,
                              Field& direction) override {
    if (!model_.options_.implicit_differentiation) tolerance = std::min(tolerance, model_.options_.linear.tolerance);
    Field rhs = model_.local_field("rhs");
    if (work_.linear.wants_reference()) make_reference();
    assemble(y, project);
    if (largest(gap) > 0.0) {
      for (const MatrixShare* share : work_.shares()) share->multiply(gap, rhs);
      scale(-1.0, rhs);
    }
    if (progress_ < progress_goal()) add_forces_of_motion(y, rhs);
    find_rounding();
    work_.linear.set_matrix(work_.shares(), work_.symmetric);
    add_scaled(count_, -1.0, residual, rhs);
    keep_free(count_, model_.fixed(), rhs);
    const LinearReport report = work_.linear.solve(rhs, direction, tolerance);
    copy_fixed(count_, model_.fixed(), gap, direction);
    model_.mesh().halo().copy_to_ghosts(direction);
    return report;
  }

  double dot(const Field& x, const Field& y) const override {
    double sum = dot_values(count_, x, y);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, model_.comm()));
    return sum;
  }
  double largest(const Field& x) const override {
    double size = max_size(count_, x);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, model_.comm()));
    return size;
  }
  void move(const Field& from, double t, const Field& direction, Field& to) const override {
    to.copy_from(from);
    axpy(t, direction, to);
  }
  double max_step(const Field& from, double from_progress, const Field& to, double to_progress) override {
    double t = 1.0;
    const auto limits = [](const auto& term) { return term->limits_steps(); };
    if (std::none_of(model_.terms().begin(), model_.terms().end(), limits)) return t;
    limiting_.clear();
    const auto limit = [&](const Field& begin, double begin_time, const Field& end, double end_time) {
      for (const auto& term : model_.terms()) {
        if (!term->limits_steps()) continue;
        const double least = term->max_step({begin, n_, nullptr, nullptr, begin_time},
                                            {end, n_, nullptr, nullptr, end_time}, model_.parameters());
        if (least >= t) continue;
        t = least;
        limiting_ = term->limiting();
      }
    };
    limit(from, end_time(from_progress), to, end_time(to_progress));
    if (rule_.position.y != 1.0) {
      const Field begin = positions_of(from), end = positions_of(to);
      limit(begin, time_of_forces(from_progress), end, time_of_forces(to_progress));
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MIN, model_.comm()));
    return t;
  }
  /// What cut the last motion, as this rank found; empty if nothing did.
  const std::string& limiting() const { return limiting_; }
  double progress() const override { return progress_; }
  double progress_goal() const override { return moves_ ? homotopy_ : 1.0; }
  void set_progress(double progress) override { progress_ = moves_ ? progress : 1.0; }

  // ---- homotopy ----

  /// The equation becomes R(y) = (1 - s) R(x_n), and what is prescribed x_n + s (y_p - x_n), what moves by itself
  /// likewise: x_n solves it for s = 0.
  void set_homotopy(double s) {
    if (!shift_) {
      Field residual = model_.local_field("residual");
      const double progress = std::exchange(progress_, moves_ ? 0.0 : 1.0);
      evaluate(state_["positions"], residual);
      progress_ = progress;
      shift_ = std::make_unique<Field>(std::move(residual));
    }
    homotopy_ = s;
  }

  // ---- derivatives ----

  Configuration configuration(const Field& y, std::int32_t* invalid_cell = nullptr) override {
    positions_ = positions_of(y);
    const bool rates = model_.any_term_uses_velocities();
    if (rates) {
      velocities_.copy_from(velocity_history_);
      axpy(rule_.velocity.y, y, velocities_);
      copy_fixed(count_, model_.fixed(), prescribed_velocities_, velocities_);
      model_.mesh().halo().copy_to_ghosts(velocities_);
    }
    return {positions_, n_, invalid_cell, rates ? &velocities_ : nullptr, time_of_forces(progress_), load_factor_};
  }

  /// The blocks of J at y: a_y M - x_y ∂f/∂x - v_y ∂f/∂v.
  void assemble(const Field& y, bool project) {
    const ProfilingRegion region("diffsim::dynamics::assemble");
    const Configuration at = configuration(y);
    make_blocks(at);
    for (MatrixShare* share : work_.shares()) share->blocks().zero();
    const JacobianWeights weights{-rule_.position.y, -rule_.velocity.y, project};
    for (const auto& term : model_.terms())
      if (!term->couplings_vary()) term->add_jacobian(at, model_.parameters(), weights, work_.common->blocks());
    for (const auto& part : work_.varying)
      part.term->add_jacobian(at, model_.parameters(), weights, part.share->blocks());
    work_.common->blocks().add_to_diagonal(rule_.acceleration.y, model_.mass());
  }

  /// The preconditioner of all steps: of J at rest, without contact, made semidefinite where that needs be. It depends
  /// on the parameters alone, so that what a step computes does not depend on which steps were worked before it.
  void make_reference() {
    const ProfilingRegion region("diffsim::dynamics::make_reference");
    if (!work_.varying.empty()) return;
    const TimeRule rule = make_time_rule(model_.options_, model_.dt(), 1);
    Field rest = model_.local_field("rest"), velocities = rest.like("velocities_at_rest");
    copy_values(count_, model_.parameters().at("rest_positions").field, rest);
    model_.mesh().halo().copy_to_ghosts(rest);
    const Configuration at{rest, 0, nullptr, model_.any_term_uses_velocities() ? &velocities : nullptr};
    make_blocks(at);
    bool good = false;
    for (const bool project : {false, true}) {
      if (good) break;
      work_.common->blocks().zero();
      const JacobianWeights weights{-rule.position.y, -rule.velocity.y, project};
      for (const auto& term : model_.terms())
        if (!term->limits_steps()) term->add_jacobian(at, model_.parameters(), weights, work_.common->blocks());
      work_.common->blocks().add_to_diagonal(rule.acceleration.y, model_.mass());
      good = work_.linear.set_reference(work_.shares(), work_.symmetric);
    }
  }

  void linearise(const Field& y) override {
    if (work_.linear.wants_reference()) make_reference();
    assemble(y, false);
    work_.linear.renew_preconditioner();
    work_.linear.set_matrix(work_.shares(), work_.symmetric);
  }

  void solve(const Field& b, Field& x, bool transposed) override {
    const double tolerance = model_.options_.linear.tolerance;
    LinearReport report = work_.linear.solve(b, x, tolerance, transposed);
    if (!report.converged && report.indefinite) report = work_.linear.solve_by_factors(b, x, tolerance, transposed);
    ++model_.statistics_.derivative_solves;
    model_.statistics_.derivative_iterations += report.iterations;
    model_.statistics_.indefinite += report.indefinite;
    if (report.converged) return;
    char text[400];
    std::snprintf(text, sizeof(text),
                  "step %d: the %s linear system of the derivatives was not solved: %s after %d iterations, relative "
                  "residual %.2g; give another solver by petsc: (ksp_type, pc_type), or raise its ksp_max_it",
                  n_, transposed ? "transposed" : "tangent", report.reason.c_str(), report.iterations, report.residual);
    throw Error(text, ErrorKind::run);
  }

  void tangent(const Field& y, const ParameterSet& direction, State& tangent);
  /// `w`: if given, gets the solution of the transposed system.
  void adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* w = nullptr);

  Field& acceleration_of(const Field& y) override {
    if (acceleration_.size() == 0) acceleration_ = model_.local_field("acceleration");
    copy_values(count_, inertia_, acceleration_);
    add_mass_times(count_, rule_.acceleration.y, model_.mass(), y, acceleration_);
    return acceleration_;
  }

 private:
  /// Times of the end state and of forces while what moves by itself is on its way.
  double end_time(double progress) const { return (n_ + progress) * model_.dt(); }
  double time_of_forces(double progress) const { return (n_ + rule_.position.y * progress) * model_.dt(); }

  /// Where forces are evaluated for y, copies up to date.
  Field positions_of(const Field& y) const {
    Field x = position_history_.clone();
    axpy(rule_.position.y, y, x);
    model_.mesh().halo().copy_to_ghosts(x);
    return x;
  }

  /// rhs += by how much forces change when what moves by itself goes to its goal.
  void add_forces_of_motion(const Field& y, Field& rhs) {
    const Configuration at = configuration(y);
    const Field still = rhs.like("still");
    Field force = rhs.like("force");
    const double time = time_of_forces(progress_goal()) - time_of_forces(progress_);
    for (const auto& term : model_.terms())
      if (term->moves(n_, model_.parameters()))
        term->add_force_tangent(at, {still, at.velocities ? &still : nullptr, time}, {}, force);
    model_.mesh().halo().add_to_owners(force);
    add_scaled(count_, 1.0, force, rhs);
  }

  /// Φ(y) = ½ a_y dᵀM d + dᵀ(M (a - λ g)(x_n) - (1 - s) R(x_n)) + E(x(y))/x_y, d = y - x_n: this rank's share.
  double potential(const Field& y, double energy) {
    Field d = model_.local_field("displacement"), Md = d.like("mass_times_displacement");
    copy_values(count_, y, d);
    add_scaled(count_, -1.0, state_["positions"], d);
    add_mass_times(count_, 0.5 * rule_.acceleration.y, model_.mass(), d, Md);
    add_scaled(count_, 1.0, acceleration_of(state_["positions"]), Md);
    if (shift_) add_scaled(count_, homotopy_ - 1.0, *shift_, Md);
    return dot_values(count_, d, Md) + energy / rule_.position.y;
  }

  /// Coordinates are rounded to eps of the mesh's extent; times the stiffness, that is what forces are rounded to.
  void find_rounding() {
    double sum = 0.0;
    for (const MatrixShare* share : work_.shares())
      sum += diagonal_square(static_cast<int>(model_.mass().size()), share->blocks().data().diagonal,
                             share->blocks().values());
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, model_.comm()));
    rounding_ = 2.2e-16 * work_.extent * std::sqrt(sum);
  }

  /// Patterns that vary are made anew by the first matrix of a step, so that they depend on nothing before it, and then
  /// where they do not serve.
  void make_blocks(const Configuration& at) {
    if (!work_.common) {
      Couplings couplings;
      for (const auto& term : model_.terms())
        if (!term->couplings_vary()) term->add_couplings(at, couplings);
      work_.common = std::make_unique<MatrixShare>(model_.mesh(), std::move(couplings), false);
    }
    for (auto& [term, share] : work_.varying) {
      const ProfilingRegion region("diffsim::dynamics::make_varying_pattern");
      if (patterns_are_of_this_step_ && term->couplings_serve(at)) continue;
      Couplings couplings;
      term->add_couplings(at, couplings);
      int same = share && share->couplings() == couplings;
      DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, model_.comm()));
      if (!same) share = std::make_unique<MatrixShare>(model_.mesh(), std::move(couplings), true);
    }
    patterns_are_of_this_step_ = true;
  }

  ImplicitModel& model_;
  Workspace& work_;
  const State& state_;
  double load_factor_;
  std::unique_ptr<Field> shift_;  // R(x_n)
  double homotopy_ = 1.0, progress_ = 1.0;
  double rounding_ = 0.0;
  bool patterns_are_of_this_step_ = false;
  std::string limiting_;
  Field position_history_, velocity_history_, inertia_, prescribed_, prescribed_velocities_;
  bool moves_;
  Field positions_, velocities_, force_, acceleration_;
};

ImplicitModel::ImplicitModel(std::shared_ptr<const TetrahedralMesh> mesh, double dt, const ImplicitOptions& options)
    : MeshModel(std::move(mesh), dt), options_(options) {
  state_fields(options_.integrator);
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw Error(what, ErrorKind::input);
  };
  require(options_.beta > 0.0, "newmark needs beta > 0; 0.25 is average acceleration");
  require(options_.gamma >= 0.5, "newmark needs gamma >= 0.5; below it grows without bound");
  require(options_.spectral_radius >= 0.0 && options_.spectral_radius <= 1.0, "spectral_radius is outside [0, 1]");
  require(options_.newton.tolerance > 0.0 && options_.linear.tolerance > 0.0, "solver tolerances must be positive");
  work_ = std::make_unique<Workspace>(this->mesh(), options_);
  double size = 0.0;
  for (const double x : this->mesh().rest_positions()) size = std::max(size, std::abs(x));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, comm()));
  work_->extent = size;
}

ImplicitModel::~ImplicitModel() = default;

State ImplicitModel::make_state() const {
  State state = MeshModel::make_state();
  for (const std::string& name : state_fields(options_.integrator))
    if (!state.has(name)) state.add(Field(name, static_cast<std::size_t>(mesh().num_owned_vertices()), 3));
  return state;
}

void ImplicitModel::synchronise(State& state) const { mesh().halo().copy_to_ghosts(state["positions"]); }

void ImplicitModel::set_reversible(bool wanted) {
  if (wanted)
    throw Error("integrator: " + options_.integrator +
                    " solves for its steps and cannot undo them bit for bit; use symplectic_euler, or another "
                    "checkpoint schedule than reversible",
                ErrorKind::input);
}

void ImplicitModel::prepare() {
  MeshModel::prepare();
  work_->linear.set_fixed(fixed());
  work_->symmetric = work_->has_potential = true;
  const bool first = work_->varying.empty();
  for (const auto& term : terms()) {
    work_->symmetric = work_->symmetric && term->has_symmetric_jacobian();
    work_->has_potential = work_->has_potential && term->has_energy();
    if (first && term->couplings_vary()) work_->varying.push_back({term.get(), nullptr});
  }
  statistics_ = {};
  const bool held = std::any_of(terms().begin(), terms().end(), [](const auto& term) { return term->holds_body(); });
  if (options_.integrator == "quasi_static" && !held) require_support(mesh(), fixed());
}

std::unique_ptr<Record> ImplicitModel::make_record() const {
  return std::make_unique<ImplicitRecord>(make_state(), local_field("positions"));
}

std::size_t ImplicitModel::record_bytes() const { return make_state().bytes() + local_field("positions").bytes(); }

void ImplicitModel::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step");
  Step step(*this, n, state);
  Field y = local_field("positions");
  y.copy_from(state["positions"]);
  std::vector<NewtonIteration> iterations;
  const bool unrolled = !options_.implicit_differentiation;
  solve(step, n, y, unrolled && record ? &iterations : nullptr);
  ++statistics_.steps;
  if (record) static_cast<ImplicitRecord*>(record)->save(state, y, std::move(iterations));
  step.advance(y, state);
}

void ImplicitModel::solve(Step& step, int n, Field& y, std::vector<NewtonIteration>* trace) {
  const int max_cuts = options_.implicit_differentiation ? options_.newton.max_cuts : 0;
  // In one go; where that fails, load by load: from a fraction s of the step that has been reached to s + part.
  work_->linear.renew_preconditioner();
  double reached = 0.0, part = 1.0;
  Field start = y.clone();
  step.set_progress(0.0);
  for (int cuts = 0; reached < 1.0;) {
    const double goal = std::min(1.0, reached + part);
    if (goal < 1.0 || reached > 0.0) step.set_homotopy(goal);
    const NewtonReport report = solve_by_newton(step, options_.newton, y, trace);
    statistics_.newton_iterations += report.iterations;
    statistics_.linear_iterations += report.linear_iterations;
    statistics_.projections += report.projections;
    last_residuals_ = report.residuals;
    const bool arrived = step.progress() >= step.progress_goal();
    if (report.converged || (report.exhausted && !options_.implicit_differentiation && arrived)) {
      reached = goal;
      start.copy_from(y);
      continue;
    }
    if (cuts == max_cuts) {
      const std::string limiting = first_text(comm(), step.limiting());
      throw Error("step " + std::to_string(n) + ": Newton's method failed in iteration " +
                      std::to_string(report.iterations) + ": " + report.reason + "; relative residuals " +
                      residual_text(report.residuals) +
                      (limiting.empty() ? "" : "; the last motion was cut by " + limiting) +
                      (cuts > 0 ? "; the step's load was halved " + std::to_string(cuts) + " times" : "") +
                      "; use a smaller dt, more steps for the load, or other solver options",
                  ErrorKind::run);
    }
    ++cuts;
    ++statistics_.cuts;
    part *= 0.5;
    y.copy_from(start);
    step.set_progress(reached);
  }
}

void ImplicitModel::Step::tangent(const Field& y, const ParameterSet& direction, State& tangent) {
  const bool mass_changes = changes_mass(direction);
  const Parameter* const gravity = direction.find("gravity");
  model_.synchronise(tangent);
  // Fixed components: dy = dx_n; those moved follow their motion.
  Field dy = model_.local_field("positions_tangent"), dw = dy.like("prescribed_velocities_tangent");
  copy_fixed(count_, model_.fixed(), tangent["positions"], dy);
  model_.apply_motions_tangent(n_, 0.0, model_.dt(), state_["positions"], direction, tangent["positions"], dy, dw);
  model_.mesh().halo().copy_to_ghosts(dy);
  // J dy = df - M (da_history - λ dg) - dm (a - λ g), with dx, dv of the history and of what is prescribed.
  Field dx = model_.local_field("dx"), dv = dx.like("dv"), rhs = dx.like("rhs"), da = dx.like("da");
  combine_state(rule_.position, tangent, dx);
  add_scaled(count_, rule_.position.y, dy, dx);
  combine_state(rule_.velocity, tangent, dv);
  copy_fixed(count_, model_.fixed(), dw, dv);
  model_.mesh().halo().copy_to_ghosts(dx);
  model_.mesh().halo().copy_to_ghosts(dv);
  const Configuration at = configuration(y);
  model_.compute_force_tangent(at, {dx, at.velocities ? &dv : nullptr}, direction, rhs);
  combine_state(rule_.acceleration, tangent, da);
  add_mass_times(count_, -1.0, model_.mass(), da, rhs);
  if (gravity)
    add_mass_times_vector(count_, load_factor(*gravity), model_.mass(), gravity->field.data() + 3 * gravity->offset(n_),
                          rhs);
  if (mass_changes) {
    Field ratio("mass_tangent", model_.mass().extent());
    divide(model_.lumped_mass().mass_tangent(), model_.mass(), ratio);
    add_mass_times(count_, -1.0, ratio, acceleration_of(y), rhs);
  }
  keep_free(count_, model_.fixed(), rhs);
  Field free = dx.like("free");
  linearise(y);
  solve(rhs, free, false);
  keep_free(count_, model_.fixed(), free);
  add_scaled(count_, 1.0, free, dy);

  State next = tangent.zero_like();
  for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
    Field& field = next.fields()[k];
    combine_state(rule_.next[k], tangent, field);
    add_scaled(count_, rule_.next[k].y, dy, field);
    if (is_rate(k)) keep_free(count_, model_.fixed(), field);
  }
  copy_fixed(count_, model_.fixed(), dw, next["velocities"]);
  copy_values(count_, dy, next.fields()[0]);
  tangent.copy_from(next);
  model_.synchronise(tangent);
}

void ImplicitModel::Step::adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* solution) {
  const bool mass_changes = changes_mass(gradient);
  Parameter* const gravity = gradient.find("gravity");
  State old = adjoint.zero_like();
  // Of the new state's fields: ȳ, the shares of the old ones, and what falls to prescribed velocities.
  Field y_bar = model_.local_field("positions_adjoint"), w_bar = y_bar.like("prescribed_velocities_adjoint");
  copy_fixed(count_, model_.fixed(), adjoint["velocities"], w_bar);
  for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
    Field& bar = adjoint.fields()[k];
    if (is_rate(k)) keep_free(count_, model_.fixed(), bar);
    add_scaled(count_, rule_.next[k].y, bar, y_bar);
    for (std::size_t j = 0; j < rule_.fields.size(); ++j)
      if (rule_.next[k].state[j] != 0.0) add_scaled(count_, rule_.next[k].state[j], bar, old.fields()[j]);
  }
  // Jᵀ w = ȳ.
  Field w = y_bar.like("w"), rhs = y_bar.like("rhs");
  copy_values(count_, y_bar, rhs);
  keep_free(count_, model_.fixed(), rhs);
  linearise(y);
  solve(rhs, w, true);
  keep_free(count_, model_.fixed(), w);
  model_.mesh().halo().copy_to_ghosts(w);
  if (solution) solution->copy_from(w);
  // Everything else that the residual depends on.
  const Configuration at = configuration(y);
  Field x_bar = y_bar.like("x_bar"), v_bar = y_bar.like("v_bar"), a_bar = y_bar.like("a_bar");
  model_.compute_force_adjoint(at, w, {x_bar, at.velocities ? &v_bar : nullptr}, gradient);
  Field v_fixed = v_bar.clone();
  keep_fixed(count_, model_.fixed(), v_fixed);
  add_scaled(count_, 1.0, v_fixed, w_bar);
  keep_free(count_, model_.fixed(), v_bar);
  add_mass_times(count_, -1.0, model_.mass(), w, a_bar);
  for (std::size_t j = 0; j < rule_.fields.size(); ++j) {
    add_scaled(count_, rule_.position.state[j], x_bar, old.fields()[j]);
    if (at.velocities) add_scaled(count_, rule_.velocity.state[j], v_bar, old.fields()[j]);
    add_scaled(count_, rule_.acceleration.state[j], a_bar, old.fields()[j]);
  }
  // Fixed components of y are those of x_n; those moved follow their motion.
  add_scaled(count_, rule_.position.y, x_bar, y_bar);
  keep_fixed(count_, model_.fixed(), y_bar);
  model_.apply_motions_adjoint(n_, 0.0, model_.dt(), state_["positions"], y_bar, w_bar, gradient);
  add_scaled(count_, 1.0, y_bar, old.fields()[0]);
  if (gravity) {
    Field momentum = model_.local_field("momentum");
    add_mass_times(count_, load_factor(*gravity), model_.mass(), w, momentum);
    const std::vector<double> sum = local_sum(momentum);
    std::vector<double> all = gravity->field.to_host();
    for (std::size_t c = 0; c < 3; ++c) all[3 * gravity->offset(n_) + c] += sum[c];
    gravity->field.from_host(all);
  }
  if (mass_changes) subtract_products(count_, model_.mass(), acceleration_of(y), w, model_.mass_gradient());
  adjoint.copy_from(old);
}

void ImplicitModel::step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step_tangent");
  const auto& recorded = static_cast<const ImplicitRecord&>(record);
  Step step(*this, n, recorded.initial());
  if (options_.implicit_differentiation)
    step.tangent(recorded.positions(), direction, tangent);
  else
    unrolled_tangent(step, recorded.iterations(), recorded.positions(), direction, tangent);
}

void ImplicitModel::step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step_adjoint");
  const auto& recorded = static_cast<const ImplicitRecord&>(record);
  Step step(*this, n, recorded.initial());
  if (options_.implicit_differentiation)
    step.adjoint(recorded.positions(), adjoint, gradient);
  else
    unrolled_adjoint(step, recorded.iterations(), recorded.positions(), adjoint, gradient);
}

void ImplicitModel::step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent,
                                         const ParameterSet& direction, const AdjointPair& pair) {
  const ProfilingRegion region("diffsim::dynamics::implicit_step_adjoint_tangent");
  const auto& recorded = static_cast<const ImplicitRecord&>(record);
  Step step(*this, n, recorded.initial());
  Field w = local_field("w");
  step.adjoint(recorded.positions(), pair.adjoint, pair.gradient, &w);
  adjoint_tangent(step, recorded.positions(), w, tangent, direction, pair.adjoint_tangent, pair.gradient_tangent);
}

}  // namespace diffsim
