// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The derivatives of an implicit step by the implicit function theorem.

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/implicit_step.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

void ImplicitModel::Step::tangent(const Field& y, const ParameterSet& direction, State& tangent) {
  const bool mass_changes = changes_mass(direction);
  const Parameter* const gravity = direction.find("gravity");
  synchronise(tangent);
  // Fixed components: dy = dx_n; those moved follow their motion.
  Field dy = model_.local_field("positions_tangent"), dw = dy.like("prescribed_velocities_tangent");
  copy_fixed(count_, model_.fixed(), tangent["positions"], dy);
  model_.apply_motions_tangent(n_, 0.0, model_.dt(), state_["positions"], direction, tangent["positions"], dy, dw);
  model_.mesh().vertex_exchange().copy_to_ghosts(dy);
  // J dy = df - M (da_history - λ dg) - dm (a - λ g), with dx, dv of the history and of what is prescribed.
  Field dx = model_.local_field("dx"), dv = dx.like("dv"), rhs = dx.like("rhs"), da = dx.like("da");
  combine_state(rule_.position, tangent, dx);
  add_scaled(count_, rule_.position.y, dy, dx);
  combine_state(rule_.velocity, tangent, dv);
  copy_fixed(count_, model_.fixed(), dw, dv);
  model_.mesh().vertex_exchange().copy_to_ghosts(dx);
  model_.mesh().vertex_exchange().copy_to_ghosts(dv);
  const Configuration at = configuration(y);
  model_.compute_force_tangent(at, {dx, at.velocities ? &dv : nullptr}, direction, rhs);
  combine_state(rule_.acceleration, tangent, da);
  add_mass_times(count_, -1.0, model_.mass(), da, rhs);
  if (gravity)
    add_mass_times_vector(count_, load_factor(*gravity), model_.mass(), gravity->field.data() + 3 * gravity->offset(n_),
                          rhs);
  if (mass_changes) {
    Field ratio = model_.mass().like("mass_tangent");
    divide(model_.lumped_mass().mass_tangent(), model_.mass(), ratio);
    add_mass_times(count_, -1.0, ratio, acceleration_of(y), rhs);
  }
  keep_free(count_, model_.fixed(), rhs);
  Field free = dx.like("free");
  linearise(y);
  solve(rhs, free, false);
  keep_free(count_, model_.fixed(), free);
  add_scaled(count_, 1.0, free, dy);

  advance_state(dy, dw, tangent);
  synchronise(tangent);
}

void ImplicitModel::Step::adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* solution) {
  const bool mass_changes = changes_mass(gradient);
  Parameter* const gravity = gradient.find("gravity");
  Field y_bar = model_.local_field("positions_adjoint"), w_bar = y_bar.like("prescribed_velocities_adjoint");
  advance_state_adjoint(adjoint, y_bar, w_bar);
  // Jᵀ w = ȳ.
  Field w = y_bar.like("w"), rhs = y_bar.like("rhs");
  copy_values(count_, y_bar, rhs);
  keep_free(count_, model_.fixed(), rhs);
  linearise(y);
  solve(rhs, w, true);
  keep_free(count_, model_.fixed(), w);
  model_.mesh().vertex_exchange().copy_to_ghosts(w);
  if (solution) solution->copy_from(w);
  // Everything else that the residual depends on.
  const Configuration at = configuration(y);
  Field x_bar = y_bar.like("x_bar"), v_bar = y_bar.like("v_bar"), a_bar = y_bar.like("a_bar");
  model_.compute_force_adjoint(at, w, {x_bar, at.velocities ? &v_bar : nullptr}, gradient);
  add_mass_times(count_, -1.0, model_.mass(), w, a_bar);
  history_adjoint(x_bar, v_bar, a_bar, adjoint, w_bar);
  // Fixed components of y are those of x_n; those moved follow their motion.
  add_scaled(count_, rule_.position.y, x_bar, y_bar);
  keep_fixed(count_, model_.fixed(), y_bar);
  model_.apply_motions_adjoint(n_, 0.0, model_.dt(), state_["positions"], y_bar, w_bar, gradient);
  add_scaled(count_, 1.0, y_bar, adjoint.fields()[0]);
  if (gravity) {
    Field momentum = model_.local_field("momentum");
    add_mass_times(count_, load_factor(*gravity), model_.mass(), w, momentum);
    add_to_entries(gravity->field, 3 * gravity->offset(n_), local_sum(momentum));
  }
  if (mass_changes) subtract_products(count_, model_.mass(), acceleration_of(y), w, model_.mass_gradient());
}

}  // namespace diffsim
