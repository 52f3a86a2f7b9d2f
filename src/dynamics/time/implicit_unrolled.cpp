// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of the Newton iterations of an implicit step as executed.
//
// Starting from y_0 = x_n, an iteration replaces y by y + t d. The step length t is treated as a constant. In
// prescribed components, d is the prescribed position minus y. In free components, d solves
//
//   Φ(y, d) = R(y) + J(y) d = 0,   J d = a_y M d - ∂f/∂x d - v_y ∂f/∂v d
//
// so that J ḋ = -Ṙ - J̇ d. J d is the derivative of R along (d, v_y d, a_y d), where v_y and a_y are the coefficients
// of y in the time rule. J̇ d requires the second derivatives of the terms.

#include <algorithm>
#include <utility>

#include "diffsim/core/error.hpp"
#include "dynamics/system_model.hpp"
#include "dynamics/time/implicit_step.hpp"
#include "dynamics/time/step_residual.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

void require_exact(const NewtonIteration& iteration, int n) {
  if (iteration.projected)
    throw Error("step " + std::to_string(n) +
                    ": Newton's iterations cannot be differentiated as executed, because one iteration used the "
                    "projected Jacobian; use "
                    "implicit_differentiation: true, or a smaller dt",
                ErrorKind::run);
}

/// Returns the direction d of an iteration that moved from `from` to `to` = `from` + `step` · d.
Field difference(const Field& from, double step, const Field& to) {
  Field d = to.clone();
  axpy(-1.0, from, d);
  scale(1.0 / step, d);
  return d;
}

/// Throws Error (input) if the Jacobian of a term is not symmetric, because J̇ d is computed as J̇ᵀ d.
void require_symmetric(const std::vector<std::unique_ptr<ForceTerm>>& terms) {
  for (const auto& term : terms)
    if (!term->has_symmetric_jacobian())
      throw Error("Newton's iterations cannot be differentiated as executed: the Jacobian of the term '" +
                      term->name() + "' is not symmetric; use implicit_differentiation: true",
                  ErrorKind::input);
}

}  // namespace

void ImplicitModel::prepare_tangent(const ParameterSet& direction) {
  SystemModel::prepare_tangent(direction);
  if (options_.implicit_differentiation) return;
  require_symmetric(system_->terms());
  system_->begin_terms_adjoint_tangent({}, direction);
}

void ImplicitModel::begin_adjoint(const ParameterSet& gradient) {
  SystemModel::begin_adjoint(gradient);
  if (options_.implicit_differentiation) return;
  require_symmetric(system_->terms());
  system_->begin_terms_adjoint_tangent(gradient, {});
}

void ImplicitModel::prepare_adjoint(ParameterSet& gradient) {
  // The gradient also has contributions of J d. The terms have accumulated these contributions as second derivatives,
  // which `prepare_adjoint_tangent` adds to the gradient.
  if (!options_.implicit_differentiation)
    for (const auto& term : system_->terms()) term->prepare_adjoint_tangent(parameters(), {}, gradient);
  SystemModel::prepare_adjoint(gradient);
}

void ImplicitModel::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (!options_.implicit_differentiation)
    throw Error("Newton's iterations as executed have no second derivatives; use implicit_differentiation: true",
                ErrorKind::input);
  SystemModel::begin_adjoint_tangent(gradient, direction);
}

const NewtonIteration& ImplicitModel::Step::iteration(int k, int end, NewtonTrace& trace) {
  if (trace.holds(k)) return trace[k];
  // The iterations depend only on the state at the beginning of the step, so a repetition gives the same iterates.
  Step again(model_, n_, state_);
  Field y = model_.system_->scratch_field("positions");
  y.copy_from(state_["positions"]);
  NewtonOptions options = model_.options_.newton;
  options.max_iterations = end;
  trace.clear();
  work_.linear.renew_preconditioner();
  again.set_progress(0.0);
  solve_by_newton(again, options, y, &trace);
  model_.statistics_.repeated_iterations += trace.count();
  if (trace.count() != end)
    throw Error("step " + std::to_string(n_) + ": Newton's method took " + std::to_string(trace.count()) +
                    " iterations when repeated, fewer than in the forward step; its iterations cannot be "
                    "differentiated as executed",
                ErrorKind::run);
  return trace[k];
}

void ImplicitModel::Step::unrolled_tangent(int iterations, NewtonTrace& trace, const Field& y,
                                           const ParameterSet& direction, State& tangent) {
  synchronise(tangent);
  Field dy = tangent["positions"].clone(), prescribed = dy.like("prescribed"), du = dy.like("velocities");
  prescribe_tangent(tangent, direction, prescribed, du);
  const auto get = [&](int k) -> const NewtonIteration& {
    return iteration(k, std::min(k + trace.room(), iterations), trace);
  };
  Field from = dy.like("iterate");
  for (int k = 0; k < iterations; ++k) {
    const NewtonIteration& held = get(k);
    require_exact(held, n_);
    const double length = held.step;
    from.copy_from(held.y);
    const Field d = difference(from, length, k + 1 < iterations ? get(k + 1).y : y);
    Field missing = prescribed.clone();
    add_scaled(count_, -1.0, dy, missing);
    keep_fixed(count_, model_.system_->fixed(), missing);
    KinematicFields along = kinematics_.make_fields(dy);
    kinematics_.evaluate(dy, du, tangent, along);
    add_scaled(count_, length, direction_tangent(from, d, std::move(along), missing, direction), dy);
  }
  advance_tangent(dy, du, direction, tangent);
}

Field ImplicitModel::Step::direction_tangent(const Field& y, const Field& d, KinematicFields along,
                                             const Field& missing, const ParameterSet& direction) {
  Residual residual(*this, y);
  // -J̇ d = -J̇ᵀ d, because the Jacobians are symmetric.
  KinematicFields bar = kinematics_.make_fields(d);
  ParameterSet nothing;
  along.synchronise();
  residual.adjoint_tangent(along, direction, &d, nullptr, bar, {nothing, model_.system_->mass_gradient()});
  // -Ṙ - J ḋ_p, where ḋ_p = `missing` is the known part of ḋ.
  Field rhs = d.like("rhs");
  kinematics_.add_positions(missing, along);
  along.synchronise();
  residual.tangent(along, direction, rhs);
  kinematics_.add_positions_adjoint(bar, rhs);
  linearise(y);
  Field d_dot = solve(std::move(rhs), false);
  add_scaled(count_, 1.0, missing, d_dot);
  return d_dot;
}

void ImplicitModel::Step::unrolled_adjoint(int iterations, NewtonTrace& trace, const Field& y, State& adjoint,
                                           ParameterSet& gradient) {
  Field y_bar = model_.system_->scratch_field("positions_adjoint"), prescribed_bar = y_bar.like("prescribed_adjoint"),
        u_bar = y_bar.like("prescribed_velocities_adjoint");
  advance_adjoint(adjoint, y_bar, u_bar, gradient);
  Field to = y.clone();
  for (int k = iterations; k-- > 0;) {
    const NewtonIteration& held = iteration(k, k + 1, trace);
    require_exact(held, n_);
    const Field d = difference(held.y, held.step, to);
    Field d_bar = y_bar.like("d_bar");
    add_scaled(count_, held.step, y_bar, d_bar);
    direction_adjoint(held.y, d, d_bar, y_bar, u_bar, adjoint, gradient);
    add_scaled(count_, 1.0, d_bar, prescribed_bar);
    add_scaled(count_, -1.0, d_bar, y_bar);
    to.copy_from(held.y);
  }
  add_scaled(count_, 1.0, y_bar, adjoint["positions"]);  // y_0 = x_n
  prescribe_adjoint(prescribed_bar, u_bar, adjoint, gradient);
}

void ImplicitModel::Step::direction_adjoint(const Field& y, const Field& d, Field& d_bar, Field& y_bar, Field& u_bar,
                                            State& state_bar, ParameterSet& gradient) {
  linearise(y);
  const Field w = solve(d_bar.clone(), true);
  Residual residual(*this, y);
  const Residual::Gradient gathered{gradient, model_.system_->mass_gradient()};
  KinematicFields bar = kinematics_.make_fields(y_bar), along = kinematics_.make_fields(y_bar);
  // Derivatives of -wᵀ R with respect to the inputs of R, and derivative of -wᵀ J d with respect to d.
  residual.adjoint(w, bar, gathered);
  kinematics_.add_positions_adjoint(bar, d_bar);
  keep_fixed(count_, model_.system_->fixed(), d_bar);
  kinematics_.evaluate_adjoint(bar, y_bar, u_bar, state_bar);
  // Derivatives of -wᵀ J d with respect to the inputs of J.
  kinematics_.add_positions(d, along);
  along.synchronise();
  residual.adjoint_tangent(along, {}, &w, nullptr, bar, gathered);
  kinematics_.evaluate_adjoint(bar, y_bar, u_bar, state_bar);
}

}  // namespace diffsim
