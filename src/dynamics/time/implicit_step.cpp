// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/implicit_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

/// Returns Σ K_ii² over owned vertices, from this rank's contribution to K.
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

}  // namespace

void ImplicitModel::Workspace::take(const std::vector<std::unique_ptr<ForceTerm>>& terms) {
  symmetric = has_potential = true;
  std::vector<ForceTerm*> vary;
  for (const auto& term : terms) {
    symmetric = symmetric && term->has_symmetric_jacobian();
    has_potential = has_potential && term->has_energy();
    if (term->couplings_vary()) vary.push_back(term.get());
  }
  if (std::equal(vary.begin(), vary.end(), varying.begin(), varying.end(),
                 [](const ForceTerm* term, const Varying& part) { return part.term == term; }))
    return;
  varying.clear();
  for (ForceTerm* const term : vary) varying.push_back({term, nullptr, {}});
}

ImplicitModel::Step::Step(ImplicitModel& model, int n, const State& state)
    : model_(model),
      work_(*model.work_),
      n_(n),
      count_(3 * model.system_->mesh().num_owned_vertices()),
      kinematics_(make_time_rule(model.integrator_, model.options_, model.dt(), n), count_, model.system_->fixed(),
                  model.system_->any_term_lags(), model.system_->scratch()),
      state_(state),
      load_factor_(model.options_.ramp_steps > 0
                       ? std::min(1.0, (n + 1.0) / static_cast<double>(model.options_.ramp_steps))
                       : 1.0),
      velocity_history_(model.system_->scratch_field("velocity_history")),
      inertia_(model.system_->scratch_field("inertia")),
      prescribed_(model.system_->scratch_field("prescribed_positions")),
      prescribed_velocities_(model.system_->scratch_field("prescribed_velocities")),
      moves_(std::any_of(model.system_->terms().begin(), model.system_->terms().end(),
                         [&](const auto& term) { return term->moves(n, model.parameters()); })),
      positions_(model.system_->scratch_field("positions_of_forces")),
      velocities_(model.system_->scratch_field("velocities_of_forces")),
      force_(model.system_->scratch_field("force")) {
  kinematics_.combine_state(rule_.velocity, state, velocity_history_);
  kinematics_.combine_state(rule_.acceleration, state, inertia_);
  prescribe(prescribed_, prescribed_velocities_);
  if (model.system_->any_term_lags()) {
    start_positions_ = state["positions"].clone();
    model.system_->mesh().vertex_exchange().copy_to_ghosts(start_positions_);
  }
  // M (a_history - λ g), the part of the residual that does not depend on y.
  const Parameter& gravity = model.parameters().at("gravity");
  Field acceleration = model.system_->scratch_field("acceleration");
  copy_values(count_, inertia_, acceleration);
  inertia_.fill(0.0);
  add_mass_times(count_, 1.0, model.system_->mass(), acceleration, inertia_);
  add_weight(count_, -load_factor(gravity), model.system_->mass(), gravity.field.data() + 3 * gravity.offset(n),
             model.system_->fixed(), inertia_);
}

void ImplicitModel::Step::advance(const Field& y, State& next) const {
  if (has_constraints())
    model_.system_->constraints()->require_known_turns(state_["positions"], y, body::ConstraintSet::TurnsFor::step);
  next.copy_from(state_);
  kinematics_.advance_state(y, prescribed_velocities_, next);
  model_.system_->advance_motions(n_, model_.dt(), next);
  synchronise(next);
}

Evaluation ImplicitModel::Step::evaluate(const Field& y, Field& residual) {
  const ProfilingRegion region("diffsim::dynamics::evaluate");
  const Configuration at = configuration(y, work_.invalid_cell.data());
  find_residual(y, at, residual);
  bool is_regular = true;
  if (has_constraints()) {
    try {
      body::TangentSpace(*model_.system_->constraints(), y).project(residual);
    } catch (const Error&) {  // thrown on all ranks
      is_regular = false;
    }
  }
  const Field& a = acceleration_;
  // ‖R‖² over free components, ‖M (a - λ g)‖², ‖f‖², Φ, number of ranks with an invalid cell.
  double sums[5] = {0.0, dot_values(count_, a, a), dot_values(count_, force_, force_), 0.0, 0.0};
  sums[0] = dot_values(count_, residual, residual);
  if (work_.has_potential) {
    double energy = 0.0, dissipation = 0.0;
    for (const auto& term : model_.system_->terms()) {
      energy += term->energy(at, model_.parameters());
      if (term->has_dissipation()) dissipation += term->dissipation(at, model_.parameters());
    }
    sums[3] = potential(y, energy, dissipation);
  }
  std::int32_t invalid = nothing_invalid;
  Kokkos::deep_copy(Kokkos::View<std::int32_t, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&invalid),
                    Kokkos::subview(work_.invalid_cell, 0));
  sums[4] = invalid != nothing_invalid;
  if (invalid != nothing_invalid) Kokkos::deep_copy(work_.invalid_cell, nothing_invalid);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_DOUBLE, MPI_SUM, model_.comm()));
  Evaluation result;
  result.valid = is_regular && sums[4] == 0.0 && std::isfinite(sums[0] + sums[1] + sums[2] + sums[3]);
  result.residual = std::sqrt(sums[0]);
  result.scale = std::sqrt(std::max(sums[1], sums[2]));
  result.potential = sums[3];
  return result;
}

void ImplicitModel::Step::find_residual(const Field& y, const Configuration& at, Field& residual) {
  model_.system_->compute_force(at, force_);
  copy_values(count_, acceleration_of(y), residual);
  add_scaled(count_, -1.0, force_, residual);
  if (shift_) add_scaled(count_, homotopy_ - 1.0, *shift_, residual);
  keep_free(count_, model_.system_->fixed(), residual);
}

double ImplicitModel::Step::find_gap(const Field& y, Field& gap) {
  copy_values(count_, y, gap);
  scale(-1.0, gap);
  add_scaled(count_, homotopy_, prescribed_, gap);
  add_scaled(count_, 1.0 - homotopy_, state_["positions"], gap);
  keep_fixed(count_, model_.system_->fixed(), gap);
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(gap);
  return largest(gap);
}

LinearReport ImplicitModel::Step::find_direction(const Field& y, const Field& residual, const Field* gap,
                                                 double tolerance, Projection projection, Field& direction) {
  if (!model_.options_.implicit_differentiation) tolerance = std::min(tolerance, model_.options_.linear.tolerance);
  Field rhs = model_.system_->scratch_field("rhs");
  if (work_.linear.wants_reference()) make_reference();
  assemble(y, projection);
  if (gap && largest(*gap) > 0.0) {
    for (const MatrixShare* share : work_.shares()) share->multiply(*gap, rhs);
    scale(-1.0, rhs);
  }
  if (gap && progress_ < progress_goal()) add_forces_of_motion(y, rhs);
  find_rounding();
  set_matrix(y, projection == Projection::none);
  add_scaled(count_, -1.0, residual, rhs);
  keep_free(count_, model_.system_->fixed(), rhs);
  if (tangent_space_) tangent_space_->project(rhs);
  const LinearReport report = work_.linear.solve(rhs, direction, tolerance, false, projection == Projection::all);
  keep_free(count_, model_.system_->fixed(), direction);
  if (tangent_space_) tangent_space_->project(direction);
  if (gap) copy_fixed(count_, model_.system_->fixed(), *gap, direction);
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(direction);
  return report;
}

void ImplicitModel::Step::set_matrix(const Field& y, bool exact) {
  if (has_constraints()) {
    tangent_space_.emplace(*model_.system_->constraints(), y);
    Field residual = model_.system_->scratch_field("residual");
    find_residual(y, configuration(y), residual);
    multipliers_ = tangent_space_->project(residual);
    // Rounding errors of the positions change the directions of the constraint forces. `rounding_` includes this
    // effect.
    double sum = tangent_space_->curvature_square(multipliers_);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, model_.comm()));
    rounding_ = std::hypot(rounding_, rounding_of_positions() * std::sqrt(sum));
    work_.linear.set_tangent_space(*tangent_space_, exact ? &multipliers_ : nullptr);
  }
  work_.linear.set_matrix(work_.shares(), work_.symmetric, exact ? product_at(y) : nullptr);
}

void ImplicitModel::Step::hold(const Field* y) {
  held_positions_ = y ? positions_of(*y) : Field();
  held_time_ = end_time(progress_);
  model_.system_->split(y != nullptr);
  work_.take(model_.system_->terms());
  patterns_are_of_this_step_ = false;
}

bool ImplicitModel::Step::has_contact() const {
  const auto& terms = model_.system_->terms();
  return std::any_of(terms.begin(), terms.end(), [](const auto& term) { return term->limits_steps(); });
}

double ImplicitModel::Step::dot(const Field& x, const Field& y) const {
  double sum = dot_values(count_, x, y);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, model_.comm()));
  return sum;
}

double ImplicitModel::Step::largest(const Field& x) const {
  double size = max_size(count_, x);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, model_.comm()));
  return size;
}

bool ImplicitModel::Step::move(const Field& from, double t, const Field& direction, Field& to) const {
  to.copy_from(from);
  axpy(t, direction, to);
  if (!has_constraints()) return true;
  if (!body::TangentSpace(*model_.system_->constraints(), from).retract(to, &state_["positions"])) return false;
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(to);
  return true;
}

void ImplicitModel::Step::satisfy_constraints(Field& y) const {
  if (!has_constraints()) return;
  if (!body::TangentSpace(*model_.system_->constraints(), y).retract(y, &state_["positions"]))
    throw Error(
        "step " + std::to_string(n_) +
            ": the positions at the beginning of the step are far from those that rigid bodies and joints allow; check "
            "the initial displacement",
        ErrorKind::run);
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(y);
}

double ImplicitModel::Step::max_step(const Field& from, double from_progress, const Field& to, double to_progress) {
  double t = 1.0;
  const auto limits = [](const auto& term) { return term->limits_steps(); };
  if (std::none_of(model_.system_->terms().begin(), model_.system_->terms().end(), limits)) return t;
  limiting_.clear();
  for (const auto& term : model_.system_->terms()) {
    if (!term->limits_steps()) continue;
    const double least = term->max_step({from, n_, nullptr, nullptr, end_time(from_progress)},
                                        {to, n_, nullptr, nullptr, end_time(to_progress)}, model_.parameters());
    if (least >= t) continue;
    t = least;
    limiting_ = term->limiting();
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MIN, model_.comm()));
  return t;
}

void ImplicitModel::Step::set_homotopy(double s) {
  if (!shift_) {
    Field residual = model_.system_->scratch_field("residual");
    const double progress = std::exchange(progress_, moves_ ? 0.0 : 1.0);
    evaluate(state_["positions"], residual);
    progress_ = progress;
    shift_ = std::make_unique<Field>(std::move(residual));
  }
  homotopy_ = s;
}

Configuration ImplicitModel::Step::configuration(const Field& y, std::int32_t* invalid_cell) {
  positions_ = positions_of(y);
  const bool rates = model_.system_->any_term_uses_velocities();
  if (rates) {
    velocities_.copy_from(velocity_history_);
    axpy(rule_.velocity.y, y, velocities_);
    copy_fixed(count_, model_.system_->fixed(), prescribed_velocities_, velocities_);
    model_.system_->mesh().vertex_exchange().copy_to_ghosts(velocities_);
  }
  Configuration at{positions_, n_, invalid_cell, rates ? &velocities_ : nullptr, end_time(progress_), load_factor_};
  if (start_positions_.size() > 0) at.start_positions = &start_positions_;
  at.start_time = n_ * model_.dt();
  if (held_positions_.size() > 0) {
    at.start_positions = &held_positions_;
    at.start_time = held_time_;
  }
  return at;
}

LinearSystem::Product ImplicitModel::Step::product_at(const Field& y) {
  if (!model_.options_.linear.matrix_free) return nullptr;
  // Copy of the configuration at y. The configuration of the Step object changes between the linearisation and the
  // solves that use the linearisation.
  struct Place {
    Field positions, velocities, dx, dv;
    Configuration at;
  };
  const Configuration at = configuration(y);
  auto place = std::make_shared<Place>(
      Place{at.positions.clone(), velocities_.clone(), at.positions.like("dx"), at.positions.like("dv"), at});
  return [this, place](const Field& x, Field& force) {
    Field &dx = place->dx, &dv = place->dv;
    const bool rates = place->at.velocities;
    const Configuration here{place->positions,
                             n_,
                             nullptr,
                             rates ? &place->velocities : nullptr,
                             place->at.time,
                             place->at.load_factor,
                             place->at.start_positions,
                             place->at.start_time};
    copy_values(count_, x, dx);
    model_.system_->mesh().vertex_exchange().copy_to_ghosts(dx);
    if (rates) {
      dv.copy_from(dx);
      scale(rule_.velocity.y, dv);
    }
    model_.system_->compute_force_tangent(here, {dx, rates ? &dv : nullptr}, {}, force);
    scale(-1.0, force);
    add_mass_times(count_, rule_.acceleration.y, model_.system_->mass(), x, force);
  };
}

void ImplicitModel::Step::assemble(const Field& y, Projection projection) {
  const ProfilingRegion region("diffsim::dynamics::assemble");
  const Configuration at = configuration(y);
  make_blocks(at);
  for (MatrixShare* share : work_.shares()) share->blocks().zero();
  const auto add = [&](ForceTerm& term, BlockMatrix& blocks) {
    const bool project = projection == Projection::all || (projection == Projection::contact && term.limits_steps());
    term.add_jacobian(at, model_.parameters(), {-1.0, -rule_.velocity.y, project}, blocks);
  };
  for (const auto& term : model_.system_->terms())
    if (!term->couplings_vary()) add(*term, work_.common->blocks());
  for (const auto& part : work_.varying) add(*part.term, part.share->blocks());
  work_.common->blocks().add_to_diagonal(rule_.acceleration.y, model_.system_->mass());
}

void ImplicitModel::Step::make_reference() {
  const ProfilingRegion region("diffsim::dynamics::make_reference");
  if (!work_.varying.empty() || has_constraints()) return;
  const TimeRule rule = make_time_rule(model_.integrator_, model_.options_, model_.dt(), 1);
  Field rest = model_.system_->scratch_field("rest"), velocities = rest.like("velocities_at_rest");
  copy_values(count_, model_.parameters().at("rest_positions").field, rest);
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(rest);
  const Configuration at{rest, 0, nullptr, model_.system_->any_term_uses_velocities() ? &velocities : nullptr};
  make_blocks(at);
  bool good = false;
  for (const bool project : {false, true}) {
    if (good) break;
    work_.common->blocks().zero();
    const JacobianWeights weights{-1.0, -rule.velocity.y, project};
    for (const auto& term : model_.system_->terms())
      if (!term->limits_steps() && !term->lags())
        term->add_jacobian(at, model_.parameters(), weights, work_.common->blocks());
    work_.common->blocks().add_to_diagonal(rule.acceleration.y, model_.system_->mass());
    good = work_.linear.set_reference(work_.shares(), work_.symmetric);
  }
}

Field& ImplicitModel::Step::acceleration_of(const Field& y) {
  if (acceleration_.size() == 0) acceleration_ = model_.system_->scratch_field("acceleration");
  copy_values(count_, inertia_, acceleration_);
  add_mass_times(count_, rule_.acceleration.y, model_.system_->mass(), y, acceleration_);
  return acceleration_;
}

Field ImplicitModel::Step::positions_of(const Field& y) const {
  Field x = model_.system_->scratch_field("positions");
  x.copy_from(y);
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(x);
  return x;
}

void ImplicitModel::Step::add_forces_of_motion(const Field& y, Field& rhs) {
  const Configuration at = configuration(y);
  const Field still = rhs.like("still");
  Field force = rhs.like("force");
  const double time = end_time(progress_goal()) - end_time(progress_);
  for (const auto& term : model_.system_->terms())
    if (term->moves(n_, model_.parameters()))
      term->add_force_tangent(at, {still, at.velocities ? &still : nullptr, time}, {}, force);
  model_.system_->mesh().vertex_exchange().add_to_owners(force);
  add_scaled(count_, 1.0, force, rhs);
}

double ImplicitModel::Step::potential(const Field& y, double energy, double dissipation) {
  Field d = model_.system_->scratch_field("displacement"), Md = d.like("mass_times_displacement");
  copy_values(count_, y, d);
  add_scaled(count_, -1.0, state_["positions"], d);
  add_mass_times(count_, 0.5 * rule_.acceleration.y, model_.system_->mass(), d, Md);
  add_scaled(count_, 1.0, acceleration_of(state_["positions"]), Md);
  if (shift_) add_scaled(count_, homotopy_ - 1.0, *shift_, Md);
  const double potential = dot_values(count_, d, Md) + energy;
  return dissipation != 0.0 ? potential + dissipation / rule_.velocity.y : potential;
}

void ImplicitModel::Step::find_rounding() {
  double sum = 0.0;
  for (const MatrixShare* share : work_.shares())
    sum += diagonal_square(static_cast<int>(model_.system_->mass().size()), share->blocks().data().diagonal,
                           share->blocks().values());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, model_.comm()));
  rounding_ = rounding_of_positions() * std::sqrt(sum);
}

void ImplicitModel::Step::make_blocks(const Configuration& at) {
  if (!work_.common) {
    Couplings couplings;
    for (const auto& term : model_.system_->terms())
      if (!term->couplings_vary()) term->add_couplings(at, couplings);
    work_.common = std::make_unique<MatrixShare>(model_.system_->mesh(), std::move(couplings), false);
  }
  for (auto& [term, share, couplings] : work_.varying) {
    const ProfilingRegion region("diffsim::dynamics::make_varying_pattern");
    if (patterns_are_of_this_step_ && term->pattern_covers(at)) continue;
    couplings.clear();
    term->add_couplings(at, couplings);
    int same = share && share->couplings() == couplings;
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, model_.comm()));
    if (!same) share = std::make_unique<MatrixShare>(model_.system_->mesh(), couplings, true);
  }
  patterns_are_of_this_step_ = true;
}

}  // namespace diffsim
