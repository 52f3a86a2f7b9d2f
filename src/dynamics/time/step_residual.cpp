// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/step_residual.hpp"

#include "core/add_to_entries.hpp"
#include "dynamics/time/implicit_step.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

/// Returns the fields of `along` on which forces depend.
ConfigurationTangent direction_of(const Configuration& at, const KinematicFields& along) {
  return {along.x, at.velocities ? &along.v : nullptr, 0.0, at.start_positions ? &along.start : nullptr};
}

/// Returns the fields of `bar` to which forces contribute.
ConfigurationAdjoint adjoint_of(const Configuration& at, KinematicFields& bar) {
  return {bar.x, at.velocities ? &bar.v : nullptr, at.start_positions ? &bar.start : nullptr};
}

}  // namespace

ImplicitModel::Residual::Residual(Step& step, const Field& y)
    : model_(step.model()), step_(step), y_(y), count_(step.count()), at_(step.configuration(y)) {}

void ImplicitModel::Residual::tangent(const KinematicFields& along, const ParameterSet& direction, Field& out) {
  model_.system_->compute_force_tangent(at_, direction_of(at_, along), direction, out);
  add_acceleration_tangent(-1.0, along, direction, out);
  if (model_.system_->changes_mass(direction))
    add_mass_ratio_times(count_, -1.0, model_.system_->mass_tangent(), model_.system_->mass(),
                         step_.acceleration_of(y_), out);
}

void ImplicitModel::Residual::adjoint(const Field& w, KinematicFields& bar, const Gradient& gradient) {
  model_.system_->compute_force_adjoint(at_, w, adjoint_of(at_, bar), gradient.parameters);
  bar.a.fill(0.0);
  add_mass_times(count_, -1.0, model_.system_->mass(), w, bar.a);
  add_gravity_gradient(bar.a, gradient.parameters);
  if (model_.system_->changes_mass(gradient.parameters))
    subtract_products(count_, model_.system_->mass(), step_.acceleration_of(y_), w, gradient.by_mass);
}

void ImplicitModel::Residual::adjoint_tangent(const KinematicFields& along, const ParameterSet& direction,
                                              const Field* w, const Field* dw, KinematicFields& bar,
                                              const Gradient& gradient_tangent) {
  model_.system_->compute_force_adjoint_tangent(at_, direction_of(at_, along), direction, w, dw, adjoint_of(at_, bar),
                                                gradient_tangent.parameters);
  bar.a.fill(0.0);
  if (w && model_.system_->changes_mass(direction))
    add_mass_times(count_, -1.0, model_.system_->mass_tangent(), *w, bar.a);
  if (dw) add_mass_times(count_, -1.0, model_.system_->mass(), *dw, bar.a);
  add_gravity_gradient(bar.a, gradient_tangent.parameters);
  if (!model_.system_->changes_mass(gradient_tangent.parameters)) return;
  if (w) {
    Field acceleration_tangent = model_.system_->scratch_field("acceleration_tangent");
    add_acceleration_tangent(1.0, along, direction, acceleration_tangent);
    subtract_products(count_, model_.system_->mass(), acceleration_tangent, *w, gradient_tangent.by_mass);
  }
  if (dw) subtract_products(count_, model_.system_->mass(), step_.acceleration_of(y_), *dw, gradient_tangent.by_mass);
}

void ImplicitModel::Residual::add_acceleration_tangent(double factor, const KinematicFields& along,
                                                       const ParameterSet& direction, Field& out) const {
  add_mass_times(count_, factor, model_.system_->mass(), along.a, out);
  if (const Parameter* const gravity = direction.find("gravity"))
    add_weight(count_, -factor * step_.load_factor(*gravity), model_.system_->mass(),
               gravity->field.data() + 3 * gravity->offset(step_.number()), model_.system_->fixed(), out);
}

void ImplicitModel::Residual::add_gravity_gradient(const Field& a_bar, ParameterSet& gradient) const {
  Parameter* const gravity = gradient.find("gravity");
  if (!gravity) return;
  std::vector<double> sum;
  if (model_.system_->mesh().is_director().empty()) {
    sum = local_sum(a_bar);
  } else {
    Field of_weights = a_bar.clone();
    clear_weightless(count_, model_.system_->fixed(), of_weights);
    sum = local_sum(of_weights);
  }
  for (double& component : sum) component *= -step_.load_factor(*gravity);
  add_to_entries(gravity->field, 3 * gravity->offset(step_.number()), sum);
}

}  // namespace diffsim
