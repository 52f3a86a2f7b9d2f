// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/explicit_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/exchange.hpp"
#include "core/kinematics.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "dynamics/parameters.hpp"
#include "dynamics/time/explicit_parts.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

const ExplicitRule& rule_of(Integrator integrator) {
  if (const ExplicitRule* const rule = find_explicit_rule(integrator)) return *rule;
  std::string known;
  for (const ExplicitRule& rule : explicit_rules())
    known += (known.empty() ? "" : ", ") + std::string(name_of(rule.integrator));
  throw Error(std::string(name_of(integrator)) + " is an implicit integrator; explicit integrators: " + known,
              ErrorKind::input);
}

/// Throws Error (input) if an impact acts on a body that has a joint.
void require_no_impacts_on_joints(const System& system) {
  for (const Joint& joint : system.joints())
    for (const std::string& body : {joint.body, joint.other})
      for (const auto& impact : system.impacts())
        if (impact->acts_on(body))
          throw Error("joint '" + joint.name + "': the contact law impact is not available for body '" + body +
                          "', which has a joint; give the pair the law barrier or penalty, or touch: false",
                      ErrorKind::input);
}

/// Updates x ← x' and v ← v' for the components [begin, end). Lowers `invalid_vertex` to the smallest index of a vertex
/// whose new position is not finite.
template <int earlier>
void update_state(const EndUpdate<double, earlier>& end_update, int begin, int end, Field& velocities, Field& positions,
                  std::int32_t* invalid_vertex) {
  double* const v = velocities.data();
  double* const x = positions.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::update", Range(begin, end), KOKKOS_LAMBDA(int i) {
        double new_x = x[i], new_v = v[i];
        end_update(i, new_x, new_v);
        v[i] = new_v;
        x[i] = new_x;
        if (!(new_x - new_x == 0.0)) Kokkos::atomic_fetch_min(invalid_vertex, i / 3);
      });
}

}  // namespace

ExplicitModel::ExplicitModel(std::shared_ptr<System> system, Integrator integrator, double dt, int substeps)
    : SystemModel(std::move(system), dt), rule_(rule_of(integrator)), substeps_(substeps) {
  if (substeps_ < 1)
    throw Error("substeps is " + std::to_string(substeps_) + "; it must be at least 1", ErrorKind::input);
  work_ = std::make_unique<Workspace>(system_->mesh(), substeps_);
  if (rule_.has_damping) parameters().add(DynamicsParameters::damping, Entities::one_for_all(comm())).field.fill(1.0);
}

ExplicitModel::~ExplicitModel() = default;

Integrator ExplicitModel::integrator() const { return rule_.integrator; }
bool ExplicitModel::has_damping() const { return rule_.has_damping; }

double ExplicitModel::time_of(int n, int s, int i) const {
  return time_of(n, s) + rule_.stages[static_cast<std::size_t>(i)].time * h();
}

bool ExplicitModel::reuses_forces() const {
  return rule_.ends_in_last_stage && !system_->any_term_uses_velocities() && !system_->constraints() &&
         system_->impacts().empty();
}

bool ExplicitModel::is_limited() const {
  return std::any_of(system_->terms().begin(), system_->terms().end(),
                     [](const auto& term) { return term->limits_steps(); });
}

void ExplicitModel::prepare() {
  SystemModel::prepare();
  if (system_->constraints() && !work_->constraints)
    work_->constraints = std::make_unique<ExplicitConstraints>(*system_->constraints(), rule_, h());
  require_no_impacts_on_joints(*system_);
  if (!system_->impacts().empty() && !work_->impacts) work_->impacts = std::make_unique<ExplicitImpacts>(*system_, h());
  if (reversible_) require_reversible();
}

void ExplicitModel::set_reversible(bool wanted) {
  reversible_ = wanted;
  if (!wanted) return;
  require_reversible();
  double extent = 0.0;
  for (const double x : system_->mesh().rest_positions()) extent = std::max(extent, std::abs(x));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &extent, 1, MPI_DOUBLE, MPI_MAX, comm()));
  work_->grid = ReversibleGrid::of(extent, h());
}

void ExplicitModel::require_reversible() const {
  std::string reason;
  if (rule_.integrator != Integrator::symplectic_euler)
    reason = std::string("integrator: ") + name_of(rule_.integrator);
  for (const auto& term : system_->terms()) {
    if (term->limits_steps()) reason = "contact ('" + term->name() + "')";
    if (term->uses_velocities()) reason = "forces that depend on velocities ('" + term->name() + "')";
  }
  if (system_->has_motions()) reason = "prescribed motions";
  if (system_->constraints()) reason = "rigid bodies";
  if (!system_->impacts().empty()) reason = "impacts";
  const Parameter* const damping = parameters().find("damping");
  for (const double d : damping ? damping->field.to_host() : std::vector<double>{})
    if (d != 1.0) {
      char text[80];
      std::snprintf(text, sizeof(text), "damping (%g; 1 means no damping)", d);
      reason = text;
    }
  if (reason.empty()) return;
  throw Error("steps with " + reason +
                  " cannot be reversed exactly; remove this option, or use a checkpoint schedule other than reversible",
              ErrorKind::input);
}

std::unique_ptr<Record> ExplicitModel::make_record() const {
  return std::make_unique<ExplicitRecord>(make_state(), substeps_, rule_.stages.size(), records_velocities_,
                                          records_forces_);
}

std::size_t ExplicitModel::record_bytes() const {
  const auto x = 24 * static_cast<std::size_t>(system_->mesh().num_vertices());
  const auto v = 24 * static_cast<std::size_t>(system_->mesh().num_owned_vertices());
  const std::size_t stages = static_cast<std::size_t>(substeps_) * rule_.stages.size();
  return stages * x + (records_velocities_ ? stages : 1) * v + (records_forces_ ? stages * v : 0) +
         (work_->constraints ? stages * work_->constraints->record_bytes() : 0) +
         (work_->impacts ? 3 * static_cast<std::size_t>(substeps_) * v : 0);
}

void ExplicitModel::step(int n, State& state, Record* record) {
  const ProfilingRegion region("diffsim::dynamics::step");
  if (rule_.stages.size() > 1) work_->make_stages(*this);
  if (reversible_) put_on_grid(work_->update<double>(*this, n), work_->grid, state["velocities"], state["positions"]);
  for (int s = 0; s < substeps_; ++s) substep(n, s, state, static_cast<ExplicitRecord*>(record));
  system_->advance_motions(n, dt(), state);
  // With contact or impacts, a completed step must not have inverted cells, so the final configuration is checked here.
  // Without contact, the next evaluation of the forces detects inverted cells.
  if (is_limited() || work_->impacts)
    for (const auto& term : system_->terms())
      if (!term->limits_steps() && !term->uses_velocities())
        term->add_force({state["positions"], n, work_->invalid_cell.data() + substeps_, nullptr, time_of(n, substeps_)},
                        parameters(), work_->force);
  require_valid(n);
  if (reversible_) require_on_grid(n);
}

void ExplicitModel::substep(int n, int s, State& state, ExplicitRecord* record) {
  const auto update = work_->update<double>(*this, n);
  const int last = static_cast<int>(rule_.stages.size()) - 1;
  const Field &x = state["positions"], &v = state["velocities"];
  if (work_->impacts) work_->impacts->start(v);
  for (int i = 0; i <= last; ++i) {
    State& at = i == 0 ? state : work_->stage;
    Field &X = at["positions"], &V = at["velocities"];
    if (i > 0) {
      const StageWeights weights = StageWeights::of_stage(rule_, static_cast<std::size_t>(i), update.h);
      for_components("diffsim::dynamics::stage", 0, static_cast<int>(v.size()),
                     StageUpdate{weights, update.fixed, work_->earlier(), x.data(), v.data(), X.data(), V.data()});
      system_->apply_motions({n, s * update.h, weights.drift}, state, x, X, V);
      system_->mesh().vertex_exchange().copy_to_ghosts(X);
      if (is_limited())
        require_free({x, n, nullptr, nullptr, time_of(n, s)}, {X, n, nullptr, nullptr, time_of(n, s, i)}, s);
    }
    if (record) record->save(s, i, at);
    if (i > 0 || s == 0 || !reuses_forces()) {
      system_->compute_force(
          {X, n, work_->invalid_cell.data() + s, work_->complete(*this, V, work_->velocities), time_of(n, s, i)},
          work_->force);
      if (work_->constraints) {
        ConstraintValues values = work_->constraints->add_force(
            {i, {&x}, {&v}, {&X}, {&work_->force}, work_->masses(*this), &work_->accelerations, update}, work_->force);
        if (record) record->save_constraints(s, i, std::move(values));
      }
      if (record) record->save_force(s, i, work_->force);
    }
    if (i == last) break;
    for_components("diffsim::dynamics::acceleration", 0, static_cast<int>(v.size()),
                   StoreAcceleration<double>{
                       update, {work_->force.data()}, {work_->accelerations[static_cast<std::size_t>(i)].data()}});
  }
  end_substep(n, s, state, record);
}

void ExplicitModel::end_substep(int n, int s, State& state, ExplicitRecord* record) {
  const auto update = work_->update<double>(*this, n);
  Field& positions = state["positions"];
  Field& velocities = state["velocities"];
  const bool looks_after_contact = is_limited() && (!rule_.ends_in_last_stage || work_->impacts);
  if (looks_after_contact) work_->local(work_->start, "start").copy_from(positions);
  // Vertices shared with other ranks are updated first; the remaining vertices are updated during the exchange. If a
  // later operation changes positions as well (reversible steps, prescribed motions, impacts), all vertices are updated
  // before the exchange.
  const int all = static_cast<int>(velocities.size());
  const int first =
      reversible_ || system_->has_motions() || work_->impacts ? all : 3 * system_->mesh().shared_vertices_end();
  std::int32_t* const invalid = work_->invalid_vertex.data() + s;
  const StageWeights weights = StageWeights::of_end(rule_, update.h);
  const auto update_some = [&](int begin, int end) {
    with_earlier(rule_, [&](auto earlier) {
      const EndUpdate<double, decltype(earlier)::value> by_last{
          update, weights, work_->earlier(), {work_->force.data()}};
      update_state(by_last, begin, end, velocities, positions, invalid);
    });
  };
  if (reversible_)
    update_on_grid(update, work_->grid, work_->force, velocities, positions, invalid, work_->far_vertex.data());
  else
    update_some(0, first);
  Kokkos::fence();
  // The update kernel treats moved vertices as fixed, so `positions` of moved vertices are still the positions at the
  // start of the substep.
  system_->apply_motions({n, s * update.h, update.h}, state, positions, positions, velocities);
  if (work_->impacts)
    work_->impacts->apply({n, time_of(n, s + 1)}, positions, velocities, record ? &record->before_impacts(s) : nullptr);
  system_->mesh().vertex_exchange().begin_copy_to_ghosts(positions);
  update_some(first, all);
  Kokkos::fence();
  system_->mesh().vertex_exchange().end_copy_to_ghosts(positions);
  if (looks_after_contact)
    require_free({work_->start, n, nullptr, nullptr, time_of(n, s)},
                 {positions, n, nullptr, nullptr, time_of(n, s + 1)}, s);
}

void ExplicitModel::step_back(int n, State& state, Record& record) {
  const ProfilingRegion region("diffsim::dynamics::step_back");
  if (!reversible_) Model::step_back(n, state, record);
  const auto update = work_->update<double>(*this, n);
  Field& positions = state["positions"];
  Field& velocities = state["velocities"];
  for (int s = substeps_ - 1; s >= 0; --s) {
    take_back_positions(update, work_->grid, velocities, positions);
    Kokkos::fence();
    system_->mesh().vertex_exchange().copy_to_ghosts(positions);
    // The check for invalid cells is requested as in the forward step, because a kernel without this check may round
    // differently.
    system_->compute_force({positions, n, work_->invalid_cell.data() + s, nullptr, time_of(n, s)}, work_->force);
    take_back_velocities(update, work_->grid, work_->force, velocities);
    Kokkos::fence();
    auto& recorded = static_cast<ExplicitRecord&>(record);
    recorded.save(s, 0, state);
    recorded.save_force(s, 0, work_->force);
  }
}

}  // namespace diffsim
