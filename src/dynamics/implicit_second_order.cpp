// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The derivative of an implicit step's adjoint along a direction (forward over reverse).

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/dynamics/implicit_model.hpp"
#include "dynamics/step_equation.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

/// The adjoint solves Jᵀ w = ȳ at y and gathers -(∂R/∂·)ᵀ w. Its derivative, with dJ along all that J depends on:
///
///   Jᵀ dw = dȳ - dJᵀ w,   and gathers -(∂R/∂·)ᵀ dw - d[(∂R/∂·)ᵀ] w
///
/// R = M (a - λ g) - f. Names are those of Step::adjoint with a d before them.
void ImplicitModel::adjoint_tangent(StepEquation& step, const Field& y, const Field& w, const StepTangent& tangent,
                                    const ParameterSet& direction, State& adjoint_tangent,
                                    ParameterSet& gradient_tangent) {
  const int n = step.number(), count = step.count();
  const TimeRule& rule = step.rule();
  const bool to_mass = changes_mass(gradient_tangent), along_mass = changes_mass(direction);
  const Parameter* const along_gravity = direction.find("gravity");

  // The direction: dy, the places of forces, and the velocities that are prescribed.
  const Field& dy = tangent.after["positions"];
  Field dx = local_field("dx"), dv = dx.like("dv"), scratch = dx.like("scratch");
  apply_motions_tangent(n, 0.0, dt(), step.state()["positions"], direction, tangent.before["positions"], scratch, dv);
  keep_fixed(count, fixed(), dv);
  Field prescribed = dv.clone();
  step.combine_state(rule.velocity, tangent.before, dv);
  add_scaled(count, rule.velocity.y, dy, dv);
  copy_fixed(count, fixed(), prescribed, dv);
  step.combine_state(rule.position, tangent.before, dx);
  add_scaled(count, rule.position.y, dy, dx);
  mesh().vertex_exchange().copy_to_ghosts(dx);
  mesh().vertex_exchange().copy_to_ghosts(dv);
  const Configuration at = step.configuration(y);
  const ConfigurationTangent along{dx, at.velocities ? &dv : nullptr};
  Field mass_ratio = mass().like("mass_ratio");  // dM/M
  if (along_mass) divide(lumped_mass().mass_tangent(), mass(), mass_ratio);

  Field y_bar = local_field("positions_adjoint"), v_prescribed_bar = y_bar.like("prescribed_velocities_adjoint");
  step.advance_state_adjoint(adjoint_tangent, y_bar, v_prescribed_bar);

  // Jᵀ dw = dȳ - dJᵀ w, J = a_y M - x_y ∂f/∂x - v_y ∂f/∂v.
  Field x_bar = y_bar.like("x_bar"), v_bar = y_bar.like("v_bar"), a_bar = y_bar.like("a_bar");
  compute_force_adjoint_tangent(at, along, direction, &w, nullptr, {x_bar, at.velocities ? &v_bar : nullptr},
                                gradient_tangent);
  if (along_mass) {
    scratch.fill(0.0);
    add_mass_times(count, -1.0, mass(), w, scratch);
    add_mass_times(count, 1.0, mass_ratio, scratch, a_bar);
  }
  Field rhs = y_bar.clone(), dw = y_bar.like("dw");
  add_scaled(count, rule.position.y, x_bar, rhs);
  if (at.velocities) add_scaled(count, rule.velocity.y, v_bar, rhs);
  add_scaled(count, rule.acceleration.y, a_bar, rhs);
  keep_free(count, fixed(), rhs);
  step.solve(rhs, dw, true);
  keep_free(count, fixed(), dw);
  mesh().vertex_exchange().copy_to_ghosts(dw);

  // Everything else that the residual depends on.
  Field x_more = y_bar.like("x_more"), v_more = y_bar.like("v_more");
  compute_force_adjoint_tangent(at, along, direction, nullptr, &dw, {x_more, at.velocities ? &v_more : nullptr},
                                gradient_tangent);
  add_scaled(count, 1.0, x_more, x_bar);
  add_scaled(count, 1.0, v_more, v_bar);
  add_mass_times(count, -1.0, mass(), dw, a_bar);
  step.history_adjoint(x_bar, v_bar, a_bar, adjoint_tangent, v_prescribed_bar);
  // Fixed components of y are those of x_n; those moved follow their motion.
  add_scaled(count, rule.position.y, x_bar, y_bar);
  keep_fixed(count, fixed(), y_bar);
  apply_motions_adjoint(n, 0.0, dt(), step.state()["positions"], y_bar, v_prescribed_bar, gradient_tangent);
  add_scaled(count, 1.0, y_bar, adjoint_tangent.fields()[0]);

  if (Parameter* gravity = gradient_tangent.find("gravity")) {
    // Of Σ λ M w; a_bar is -d(M w).
    scale(-step.load_factor(*gravity), a_bar);
    add_to_entries(gravity->field, 3 * gravity->offset(n), local_sum(a_bar));
  }
  if (to_mass) {
    // Of -(a - λ g) w.
    Field acceleration = y_bar.like("acceleration"), da = y_bar.like("da");
    copy_values(count, step.acceleration_of(y), acceleration);
    subtract_products(count, mass(), acceleration, dw, mass_gradient_tangent());
    step.combine_state(rule.acceleration, tangent.before, scratch);
    add_scaled(count, rule.acceleration.y, dy, scratch);
    add_mass_times(count, 1.0, mass(), scratch, da);
    if (along_gravity)
      add_mass_times_vector(count, -step.load_factor(*along_gravity), mass(),
                            along_gravity->field.data() + 3 * along_gravity->offset(n), da);
    subtract_products(count, mass(), da, w, mass_gradient_tangent());
  }
}

}  // namespace diffsim
