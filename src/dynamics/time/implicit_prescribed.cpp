// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Prescribed components of an implicit step: fixed components keep their positions and have zero velocity; moved
// vertices follow their prescribed motion.

#include "core/kinematics.hpp"
#include "dynamics/time/implicit_step.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

void ImplicitModel::Step::prescribe(Field& y, Field& u) const {
  copy_fixed(count_, model_.system_->fixed(), state_["positions"], y);
  model_.system_->apply_motions({n_, 0.0, model_.dt()}, state_, state_["positions"], y, u);
}

void ImplicitModel::Step::prescribe_tangent(const State& tangent, const ParameterSet& direction, Field& dy,
                                            Field& du) const {
  copy_fixed(count_, model_.system_->fixed(), tangent["positions"], dy);
  model_.system_->apply_motions_tangent(direction, {n_, 0.0, model_.dt()}, state_, tangent, state_["positions"],
                                        tangent["positions"], dy, du);
}

void ImplicitModel::Step::prescribe_adjoint(Field& y_bar, Field& u_bar, State& state_bar,
                                            ParameterSet& gradient) const {
  keep_fixed(count_, model_.system_->fixed(), y_bar);
  model_.system_->apply_motions_adjoint({n_, 0.0, model_.dt()}, state_, state_["positions"], y_bar, u_bar, state_bar,
                                        gradient);
  add_scaled(count_, 1.0, y_bar, state_bar["positions"]);
  model_.system_->sum_motion_adjoints(state_bar);
}

void ImplicitModel::Step::advance_tangent(const Field& dy, const Field& du, const ParameterSet& direction,
                                          State& tangent) const {
  kinematics_.advance_state(dy, du, tangent);
  model_.system_->advance_motions_tangent(direction, n_, model_.dt(), tangent);
  synchronise(tangent);
}

void ImplicitModel::Step::advance_adjoint(State& adjoint, Field& y_bar, Field& u_bar, ParameterSet& gradient) const {
  model_.system_->advance_motions_adjoint(n_, model_.dt(), adjoint, gradient);
  kinematics_.advance_state_adjoint(adjoint, y_bar, u_bar);
}

}  // namespace diffsim
