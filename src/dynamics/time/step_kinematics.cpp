// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/step_kinematics.hpp"

#include "core/exchange.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim::dynamics {

void KinematicFields::synchronise() {
  for (Field* field : {&x, &v, &start}) {
    if (field->size() == 0) continue;
    if (const Exchange* exchange = field->on().exchange()) exchange->copy_to_ghosts(*field);
  }
}

void StepKinematics::combine_state(const Combination& combination, const State& state, Field& out) const {
  out.fill(0.0);
  for (std::size_t k = 0; k < combination.state.size(); ++k)
    if (combination.state[k] != 0.0) add_scaled(count_, combination.state[k], state.fields()[k], out);
}

void StepKinematics::combine_state_adjoint(const Combination& combination, const Field& bar, State& state_bar) const {
  for (std::size_t k = 0; k < combination.state.size(); ++k)
    if (combination.state[k] != 0.0) add_scaled(count_, combination.state[k], bar, state_bar.fields()[k]);
}

void StepKinematics::evaluate(const Field& y, const Field& u, const State& state, KinematicFields& out) const {
  out.x.fill(0.0);
  combine_state(rule_.velocity, state, out.v);
  combine_state(rule_.acceleration, state, out.a);
  if (out.has_start()) copy_values(count_, state.fields()[0], out.start);
  add_positions(y, out);
  copy_fixed(count_, fixed_, u, out.v);
}

void StepKinematics::evaluate_adjoint(KinematicFields& bar, Field& y_bar, Field& u_bar, State& state_bar) const {
  add_fixed(count_, fixed_, bar.v, u_bar);
  keep_free(count_, fixed_, bar.v);
  add_positions_adjoint(bar, y_bar);
  combine_state_adjoint(rule_.velocity, bar.v, state_bar);
  combine_state_adjoint(rule_.acceleration, bar.a, state_bar);
  if (bar.has_start()) add_scaled(count_, 1.0, bar.start, state_bar.fields()[0]);
}

void StepKinematics::add_positions(const Field& y, KinematicFields& out) const {
  add_scaled(count_, 1.0, y, out.x);
  add_scaled(count_, rule_.velocity.y, y, out.v);
  add_scaled(count_, rule_.acceleration.y, y, out.a);
}

void StepKinematics::add_positions_adjoint(const KinematicFields& bar, Field& y_bar) const {
  add_scaled(count_, 1.0, bar.x, y_bar);
  add_scaled(count_, rule_.velocity.y, bar.v, y_bar);
  add_scaled(count_, rule_.acceleration.y, bar.a, y_bar);
}

void StepKinematics::keep_other_fields(const State& from, State& to) const {
  for (std::size_t k = rule_.fields.size(); k < from.fields().size(); ++k) to.fields()[k].copy_from(from.fields()[k]);
}

void StepKinematics::advance_state(const Field& y, const Field& u, State& state) const {
  State next = state.zero_like(*scratch_);
  for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
    Field& field = next.fields()[k];
    combine_state(rule_.next[k], state, field);
    add_scaled(count_, rule_.next[k].y, y, field);
    if (is_rate(k)) keep_free(count_, fixed_, field);
  }
  copy_fixed(count_, fixed_, u, next["velocities"]);
  copy_values(count_, y, next.fields()[0]);
  keep_other_fields(state, next);
  state.copy_from(next);
}

void StepKinematics::advance_state_adjoint(State& adjoint, Field& y_bar, Field& u_bar) const {
  State old = adjoint.zero_like(*scratch_);
  copy_fixed(count_, fixed_, adjoint["velocities"], u_bar);
  for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
    Field& bar = adjoint.fields()[k];
    if (is_rate(k)) keep_free(count_, fixed_, bar);
    add_scaled(count_, rule_.next[k].y, bar, y_bar);
    combine_state_adjoint(rule_.next[k], bar, old);
  }
  keep_other_fields(adjoint, old);
  adjoint.copy_from(old);
}

}  // namespace diffsim::dynamics
