// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's iterations of an implicit step, differentiated as they ran.
//
// From y_0 = x_n, an iteration takes y to y + t d, t a constant, where d is the missing part to what is prescribed in
// the components that are, and in the free ones solves
//
//   Φ(y, d) = R(y) + J(y) d = 0,   J d = a_y M d - x_y ∂f/∂x d - v_y ∂f/∂v d
//
// so that J ḋ = -Ṙ - J̇ d, which takes the terms' second derivatives.

#include <algorithm>

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/implicit_step.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

namespace {

void require_exact(const NewtonIteration& iteration, int n) {
  if (iteration.projected)
    throw Error(
        "step " + std::to_string(n) +
            ": Newton's iterations cannot be differentiated as they ran, for one used the projected Hessian; use "
            "implicit_differentiation: true, or a smaller dt",
        ErrorKind::run);
}

/// d of an iteration that went from one place by so much of d to another.
Field difference(const Field& from, double step, const Field& to) {
  Field d = to.clone();
  axpy(-1.0, from, d);
  scale(1.0 / step, d);
  return d;
}

/// J̇ d is computed from J̇ᵀ d.
void require_symmetric(const std::vector<std::unique_ptr<ForceTerm>>& terms) {
  for (const auto& term : terms)
    if (!term->has_symmetric_jacobian())
      throw Error("Newton's iterations cannot be differentiated as they ran: the Jacobian of the term '" +
                      term->name() + "' is not symmetric; use implicit_differentiation: true",
                  ErrorKind::input);
}

}  // namespace

void ImplicitModel::prepare_tangent(const ParameterSet& direction) {
  MeshModel::prepare_tangent(direction);
  if (options_.implicit_differentiation) return;
  require_symmetric(terms());
  begin_terms_adjoint_tangent({}, direction);
}

void ImplicitModel::begin_adjoint(const ParameterSet& gradient) {
  MeshModel::begin_adjoint(gradient);
  if (options_.implicit_differentiation) return;
  require_symmetric(terms());
  begin_terms_adjoint_tangent(gradient, {});
}

void ImplicitModel::prepare_adjoint(ParameterSet& gradient) {
  // What J d contributed was gathered with the derivatives; it belongs to the gradient itself.
  if (!options_.implicit_differentiation)
    for (const auto& term : terms()) term->prepare_adjoint_tangent(parameters(), {}, gradient);
  MeshModel::prepare_adjoint(gradient);
}

void ImplicitModel::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  if (!options_.implicit_differentiation)
    throw Error("no second derivatives of Newton's iterations; use implicit_differentiation: true", ErrorKind::input);
  MeshModel::begin_adjoint_tangent(gradient, direction);
}

const NewtonIteration& ImplicitModel::iteration(int k, int end, const StepEquation& step, NewtonTrace& trace) {
  if (trace.holds(k)) return trace[k];
  // As `step` took them: they depend on nothing but the state that it began with.
  Step again(*this, step.number(), step.state());
  Field y = local_field("positions");
  y.copy_from(step.state()["positions"]);
  NewtonOptions options = options_.newton;
  options.max_iterations = end;
  trace.clear();
  work_->linear.renew_preconditioner();
  again.set_progress(0.0);
  solve_by_newton(again, options, y, &trace);
  statistics_.repeated_iterations += trace.count();
  if (trace.count() != end)
    throw Error("step " + std::to_string(step.number()) + ": Newton's method took " + std::to_string(trace.count()) +
                    " iterations where there had been more; its iterations cannot be differentiated as they ran",
                ErrorKind::run);
  return trace[k];
}

void ImplicitModel::unrolled_tangent(StepEquation& step, int iterations, NewtonTrace& trace, const Field& y,
                                     const ParameterSet& direction, State& tangent) {
  const int n = step.number(), count = step.count();
  const TimeRule& rule = step.rule();
  const Parameter* const gravity = direction.find("gravity");
  synchronise(tangent);
  Field ratio = mass().like("mass_ratio");  // dM/M
  const bool mass_changes = changes_mass(direction);
  if (mass_changes) divide(lumped_mass().mass_tangent(), mass(), ratio);
  // What is prescribed: positions and velocities.
  Field dy = local_field("positions_tangent"), d_prescribed = dy.like("prescribed"), dw = dy.like("velocities_tangent");
  dy.copy_from(tangent["positions"]);
  copy_fixed(count, fixed(), tangent["positions"], d_prescribed);
  apply_motions_tangent(n, 0.0, dt(), step.state()["positions"], direction, tangent["positions"], d_prescribed, dw);

  Field none = dy.like("none"), Mx = dy.like("mass_times");
  Field from = dy.like("iterate");
  const auto get = [&](int k) -> const NewtonIteration& {
    return iteration(k, std::min(k + trace.room(), iterations), step, trace);
  };
  for (int k = 0; k < iterations; ++k) {
    const NewtonIteration& held = get(k);
    require_exact(held, n);
    const double length = held.step;
    from.copy_from(held.y);
    const Field d = difference(from, length, k + 1 < iterations ? get(k + 1).y : y);
    // dx, dv: the places of forces move so. In the missing part's change, too, J is applied.
    Field dx = dy.like("dx"), dv = dy.like("dv"), gap = d_prescribed.clone();
    step.combine_state(rule.position, tangent, dx);
    add_scaled(count, rule.position.y, dy, dx);
    step.combine_state(rule.velocity, tangent, dv);
    add_scaled(count, rule.velocity.y, dy, dv);
    copy_fixed(count, fixed(), dw, dv);
    add_scaled(count, -1.0, dy, gap);
    keep_fixed(count, fixed(), gap);
    Field dx_gap = dx.clone(), dv_gap = dv.clone();
    add_scaled(count, rule.position.y, gap, dx_gap);
    add_scaled(count, rule.velocity.y, gap, dv_gap);
    for (Field* field : {&dx, &dv, &dx_gap, &dv_gap}) mesh().vertex_exchange().copy_to_ghosts(*field);
    const Configuration at = step.configuration(from);
    const auto along = [&](const Field& x, const Field& v) {
      return ConfigurationTangent{x, at.velocities ? &v : nullptr};
    };
    Field rhs = dy.like("rhs"), turn = dy.like("turn"), turn_v = dy.like("turn_v");
    compute_force_tangent(at, along(dx_gap, dv_gap), direction, rhs);
    // J̇ d; the Jacobians are symmetric.
    ParameterSet nothing;
    compute_force_adjoint_tangent(at, along(dx, dv), direction, &d, nullptr, {turn, at.velocities ? &turn_v : nullptr},
                                  nothing);
    add_scaled(count, rule.position.y, turn, rhs);
    add_scaled(count, rule.velocity.y, turn_v, rhs);
    Field da = dy.like("da");
    step.combine_state(rule.acceleration, tangent, da);
    add_scaled(count, rule.acceleration.y, dy, da);
    add_mass_times(count, -1.0, mass(), da, rhs);
    if (gravity)
      add_mass_times_vector(count, step.load_factor(*gravity), mass(), gravity->field.data() + 3 * gravity->offset(n),
                            rhs);
    if (mass_changes) {
      add_mass_times(count, -1.0, ratio, step.acceleration_of(from), rhs);
      Mx.fill(0.0);
      add_mass_times(count, rule.acceleration.y, mass(), d, Mx);
      add_mass_times(count, -1.0, ratio, Mx, rhs);
    }
    keep_free(count, fixed(), rhs);
    Field change = dy.like("change");
    step.linearise(from);
    step.solve(rhs, change, false);
    keep_free(count, fixed(), change);
    add_scaled(count, 1.0, gap, change);
    add_scaled(count, length, change, dy);
  }

  step.advance_state(dy, dw, tangent);
  synchronise(tangent);
}

void ImplicitModel::unrolled_adjoint(StepEquation& step, int iterations, NewtonTrace& trace, const Field& y,
                                     State& adjoint, ParameterSet& gradient) {
  const int n = step.number(), count = step.count();
  const TimeRule& rule = step.rule();
  const bool mass_changes = changes_mass(gradient);
  Parameter* const gravity = gradient.find("gravity");
  Field y_bar = local_field("positions_adjoint"), prescribed_bar = y_bar.like("prescribed_adjoint"),
        w_bar = y_bar.like("prescribed_velocities_adjoint");
  step.advance_state_adjoint(adjoint, y_bar, w_bar);

  std::vector<double> momentum(3, 0.0);
  Field to = y.clone();
  for (int k = iterations; k-- > 0;) {
    const NewtonIteration& held = iteration(k, k + 1, step, trace);
    require_exact(held, n);
    const Field d = difference(held.y, held.step, to);
    // d̄ = t ȳ; Jᵀ w = d̄ in the free components.
    Field d_bar = y_bar.like("d_bar"), w = y_bar.like("w");
    add_scaled(count, held.step, y_bar, d_bar);
    Field rhs = d_bar.clone();
    keep_free(count, fixed(), rhs);
    step.linearise(held.y);
    step.solve(rhs, w, true);
    keep_free(count, fixed(), w);
    mesh().vertex_exchange().copy_to_ghosts(w);
    // -wᵀ R, and -wᵀ J d by d alone, ...
    const Configuration at = step.configuration(held.y);
    Field x_bar = y_bar.like("x_bar"), v_bar = y_bar.like("v_bar"), a_bar = y_bar.like("a_bar");
    compute_force_adjoint(at, w, {x_bar, at.velocities ? &v_bar : nullptr}, gradient);
    add_scaled(count, rule.position.y, x_bar, d_bar);
    add_scaled(count, rule.velocity.y, v_bar, d_bar);
    keep_fixed(count, fixed(), d_bar);
    add_scaled(count, 1.0, d_bar, prescribed_bar);
    add_scaled(count, -1.0, d_bar, y_bar);
    // ... and by what J depends on.
    Field along_x = y_bar.like("along_x"), along_v = y_bar.like("along_v"), turn = y_bar.like("turn"),
          turn_v = y_bar.like("turn_v");
    axpy(rule.position.y, d, along_x);
    axpy(rule.velocity.y, d, along_v);
    compute_force_adjoint_tangent(at, {along_x, at.velocities ? &along_v : nullptr}, {}, &w, nullptr,
                                  {turn, at.velocities ? &turn_v : nullptr}, gradient);
    add_scaled(count, 1.0, turn, x_bar);
    add_scaled(count, 1.0, turn_v, v_bar);
    add_mass_times(count, -1.0, mass(), w, a_bar);
    step.history_adjoint(x_bar, v_bar, a_bar, adjoint, w_bar);
    add_scaled(count, rule.position.y, x_bar, y_bar);
    add_scaled(count, rule.velocity.y, v_bar, y_bar);
    add_scaled(count, rule.acceleration.y, a_bar, y_bar);
    if (gravity) {
      const std::vector<double> sum = local_sum(a_bar);
      for (std::size_t c = 0; c < 3; ++c) momentum[c] -= step.load_factor(*gravity) * sum[c];
    }
    if (mass_changes) {
      Field inertia = y_bar.like("inertia");
      copy_values(count, step.acceleration_of(held.y), inertia);
      add_mass_times(count, rule.acceleration.y, mass(), d, inertia);
      subtract_products(count, mass(), inertia, w, mass_gradient());
    }
    to.copy_from(held.y);
  }
  // y_0 = x_n; what is prescribed is x_n, or follows its motion.
  add_scaled(count, 1.0, y_bar, adjoint.fields()[0]);
  apply_motions_adjoint(n, 0.0, dt(), step.state()["positions"], prescribed_bar, w_bar, gradient);
  add_scaled(count, 1.0, prescribed_bar, adjoint.fields()[0]);
  if (gravity) add_to_entries(gravity->field, 3 * gravity->offset(n), momentum);
}

}  // namespace diffsim
