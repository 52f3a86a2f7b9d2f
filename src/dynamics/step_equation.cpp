// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/step_equation.hpp"

#include "dynamics/vector_kernels.hpp"

namespace diffsim::dynamics {

void StepEquation::combine_state(const Combination& combination, const State& state, Field& out) const {
  out.fill(0.0);
  for (std::size_t k = 0; k < combination.state.size(); ++k)
    if (combination.state[k] != 0.0) add_scaled(count_, combination.state[k], state.fields()[k], out);
}

void StepEquation::advance_state(const Field& y, const Field& w, State& state) const {
  State next = state.zero_like();
  for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
    Field& field = next.fields()[k];
    combine_state(rule_.next[k], state, field);
    add_scaled(count_, rule_.next[k].y, y, field);
    if (is_rate(k)) keep_free(count_, fixed_, field);
  }
  copy_fixed(count_, fixed_, w, next["velocities"]);
  copy_values(count_, y, next.fields()[0]);
  state.copy_from(next);
}

void StepEquation::advance_state_adjoint(State& adjoint, Field& y_bar, Field& w_bar) const {
  State old = adjoint.zero_like();
  copy_fixed(count_, fixed_, adjoint["velocities"], w_bar);
  for (std::size_t k = 0; k < rule_.fields.size(); ++k) {
    Field& bar = adjoint.fields()[k];
    if (is_rate(k)) keep_free(count_, fixed_, bar);
    add_scaled(count_, rule_.next[k].y, bar, y_bar);
    for (std::size_t j = 0; j < rule_.fields.size(); ++j)
      if (rule_.next[k].state[j] != 0.0) add_scaled(count_, rule_.next[k].state[j], bar, old.fields()[j]);
  }
  adjoint.copy_from(old);
}

void StepEquation::history_adjoint(const Field& x_bar, Field& v_bar, const Field& a_bar, State& old,
                                   Field& w_bar) const {
  Field v_fixed = v_bar.clone();
  keep_fixed(count_, fixed_, v_fixed);
  add_scaled(count_, 1.0, v_fixed, w_bar);
  keep_free(count_, fixed_, v_bar);
  for (std::size_t j = 0; j < rule_.fields.size(); ++j) {
    add_scaled(count_, rule_.position.state[j], x_bar, old.fields()[j]);
    add_scaled(count_, rule_.velocity.state[j], v_bar, old.fields()[j]);
    add_scaled(count_, rule_.acceleration.state[j], a_bar, old.fields()[j]);
  }
}

}  // namespace diffsim::dynamics
