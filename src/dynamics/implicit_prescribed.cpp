// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// What is prescribed in an implicit step: components that are fixed stay where they are and have no velocity, vertices
// that are moved follow their motion.

#include "dynamics/implicit_step.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

void ImplicitModel::Step::prescribe(Field& y, Field& u) const {
  copy_fixed(count_, model_.fixed(), state_["positions"], y);
  model_.apply_motions(n_, 0.0, model_.dt(), state_["positions"], y, u);
}

void ImplicitModel::Step::prescribe_tangent(const State& tangent, const ParameterSet& direction, Field& dy,
                                            Field& du) const {
  copy_fixed(count_, model_.fixed(), tangent["positions"], dy);
  model_.apply_motions_tangent(n_, 0.0, model_.dt(), state_["positions"], direction, tangent["positions"], dy, du);
}

void ImplicitModel::Step::prescribe_adjoint(Field& y_bar, Field& u_bar, State& state_bar,
                                            ParameterSet& gradient) const {
  keep_fixed(count_, model_.fixed(), y_bar);
  model_.apply_motions_adjoint(n_, 0.0, model_.dt(), state_["positions"], y_bar, u_bar, gradient);
  add_scaled(count_, 1.0, y_bar, state_bar["positions"]);
}

}  // namespace diffsim
