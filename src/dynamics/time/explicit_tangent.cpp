// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Chain rule of explicit steps: the tangent.

#include "core/exchange.hpp"
#include "core/kinematics.hpp"
#include "dynamics/system_model.hpp"
#include "dynamics/time/explicit_parts.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

/// Computes dx and dv at the end of a substep, in place.
template <int earlier>
struct EndTangent {
  EndUpdate<Along, earlier> end;
  const double* v;  // nullptr unless there is a derivative with respect to damping
  double *dx, *dv;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    Along x = In<Along>{nullptr, dx}(i), velocity = In<Along>{v, dv}(i);
    end(i, x, velocity);
    dx[i] = x.derivative[0];
    dv[i] = velocity.derivative[0];
  }
};

}  // namespace

Configuration ExplicitModel::configuration(int n, int s, int i, const ExplicitRecord& recorded) {
  const Field* const v = records_velocities_ ? &recorded.velocities(s, i) : nullptr;
  return {recorded.positions(s, i), n, nullptr, v ? work_->complete(*this, *v, work_->velocities) : nullptr,
          time_of(n, s, i)};
}

void ExplicitModel::prepare_tangent(const ParameterSet& direction) {
  SystemModel::prepare_tangent(direction);
  records_velocities_ = direction.find("damping") != nullptr || system_->any_term_uses_velocities();
  records_forces_ = false;
}

void ExplicitModel::step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) {
  if (rule_.stages.size() > 1) work_->make_stages(*this);
  synchronise(tangent);
  for (int s = 0; s < substeps_; ++s)
    substep_tangent(n, s, static_cast<const ExplicitRecord&>(record), direction, tangent, nullptr);
  system_->advance_motions_tangent(direction, n, dt(), tangent);
}

void ExplicitModel::substep_tangent(int n, int s, const ExplicitRecord& recorded, const ParameterSet& direction,
                                    State& tangent, ExplicitRecord* stages) {
  const auto update = work_->update<Along>(*this, n, &direction);
  const bool to_damping = direction.find("damping") != nullptr;
  const bool needs_force = system_->changes_mass(direction) || to_damping;
  Field &dx = tangent["positions"], &dv = tangent["velocities"];
  const int last = static_cast<int>(rule_.stages.size()) - 1, count = static_cast<int>(dv.size());
  Field& df = work_->local(work_->force_derivative, "force_tangent");
  const Field& x = recorded.positions(s, 0);
  if (work_->impacts) work_->impacts->start_tangent(dv);
  const In<Along> force{needs_force ? work_->force.data() : nullptr, df.data()};
  for (int i = 0; i <= last; ++i) {
    State& at = i == 0 ? tangent : work_->stage;
    Field &dX = at["positions"], &dV = at["velocities"];
    if (i > 0) {
      const StageWeights weights = StageWeights::of_stage(rule_, static_cast<std::size_t>(i), update.h);
      for_components("diffsim::dynamics::stage_tangent", 0, count,
                     StageUpdate{weights, update.fixed, work_->earlier(), dx.data(), dv.data(), dX.data(), dV.data()});
      system_->apply_motions_tangent(direction, {n, s * update.h, weights.drift}, recorded.initial(), tangent, x, dx,
                                     dX, dV);
      system_->mesh().vertex_exchange().copy_to_ghosts(dX);
    }
    if (stages) stages->save(s, i, at);
    if (i > 0 || s == 0 || !reuses_forces()) {
      const Configuration place = configuration(n, s, i, recorded);
      if (needs_force) system_->compute_force(place, work_->force);
      if (needs_force && work_->constraints)
        work_->constraints->add_recorded_force<double>({&place.positions}, recorded.constraints(s, i), nullptr,
                                                       {&work_->force});
      system_->compute_force_tangent(place, {dX, work_->complete(*this, dV, work_->velocity_derivative)}, direction,
                                     df);
      if (work_->constraints) {
        const Field* const v = to_damping ? &recorded.velocities(s, 0) : nullptr;
        ConstraintValues change = work_->constraints->add_force_tangent({i,
                                                                         {&x, &dx},
                                                                         {v, &dv},
                                                                         {&recorded.positions(s, i), &dX},
                                                                         {needs_force ? &work_->force : nullptr, &df},
                                                                         work_->masses(*this, &direction),
                                                                         &work_->accelerations,
                                                                         update},
                                                                        recorded.constraints(s, i), df);
        if (stages) stages->save_constraints(s, i, std::move(change));
      }
    }
    if (i < last)
      for_components(
          "diffsim::dynamics::acceleration_tangent", 0, count,
          StoreAcceleration<Along>{update, force, {nullptr, work_->accelerations[static_cast<std::size_t>(i)].data()}});
  }
  end_substep_tangent(n, s, recorded, direction, force, tangent);
  system_->apply_motions_tangent(direction, {n, s * update.h, update.h}, recorded.initial(), tangent, x, dx, dx, dv);
  if (work_->impacts)
    work_->impacts->apply_tangent({n, time_of(n, s + 1)}, recorded.before_impacts(s), direction, dx, dv,
                                  stages ? &stages->before_impacts(s) : nullptr);
  system_->mesh().vertex_exchange().copy_to_ghosts(dx);
}

void ExplicitModel::end_substep_tangent(int n, int s, const ExplicitRecord& recorded, const ParameterSet& direction,
                                        const In<Along>& force, State& tangent) {
  const auto update = work_->update<Along>(*this, n, &direction);
  const bool to_damping = direction.find("damping") != nullptr;
  Field &dx = tangent["positions"], &dv = tangent["velocities"];
  const int last = static_cast<int>(rule_.stages.size()) - 1, count = static_cast<int>(dv.size());
  Earlier<Along> earlier{};
  for (int i = 0; i < last; ++i) earlier.of[i] = {nullptr, work_->accelerations[static_cast<std::size_t>(i)].data()};
  with_earlier(rule_, [&](auto number) {
    const EndUpdate<Along, decltype(number)::value> end{update, StageWeights::of_end(rule_, update.h), earlier, force};
    for_components("diffsim::dynamics::update_tangent", 0, count,
                   EndTangent<decltype(number)::value>{end, to_damping ? recorded.velocities(s, 0).data() : nullptr,
                                                       dx.data(), dv.data()});
  });
}

}  // namespace diffsim
