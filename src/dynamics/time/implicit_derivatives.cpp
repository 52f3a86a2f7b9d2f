// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of an implicit step by the implicit function theorem. The equation R(y, u; s, p) = 0 defines the free
// components of the new positions y as a function of the prescribed components of y, the prescribed velocities u, the
// state s at the beginning of the step and the parameters p.

#include <cstdio>
#include <utility>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/time/implicit_step.hpp"
#include "dynamics/time/step_residual.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {

using namespace dynamics;

void ImplicitModel::Step::linearise(const Field& y) {
  if (work_.linear.wants_reference()) make_reference();
  assemble(y, Projection::none);
  work_.linear.keep_preconditioner();
  set_matrix(y, true);
}

Field ImplicitModel::Step::solve(Field b, bool transposed) {
  Field x = b.like("solution");
  keep_free(count_, model_.system_->fixed(), b);
  if (tangent_space_) tangent_space_->project(b);  // the normal part of b has no effect and must not enter ‖b‖
  const double tolerance = model_.options_.linear.tolerance;
  LinearReport report = work_.linear.solve(b, x, tolerance, transposed);
  if (!report.converged && report.indefinite) report = work_.linear.solve_by_factors(b, x, tolerance, transposed);
  ++model_.statistics_.derivative_solves;
  model_.statistics_.derivative_iterations += report.iterations;
  model_.statistics_.indefinite += report.indefinite;
  if (!report.converged) {
    char text[400];
    std::snprintf(text, sizeof(text),
                  "step %d: the %s linear system of the derivatives was not solved: %s after %d iterations, relative "
                  "residual %.2g; choose another solver under petsc: (ksp_type, pc_type), or raise its ksp_max_it",
                  n_, transposed ? "transposed" : "tangent", report.reason.c_str(), report.iterations, report.residual);
    throw Error(text, ErrorKind::run);
  }
  keep_free(count_, model_.system_->fixed(), x);
  if (tangent_space_) tangent_space_->project(x);
  model_.system_->mesh().vertex_exchange().copy_to_ghosts(x);
  return x;
}

/// Solves J dy = -dR for the free components of dy, where dR is the derivative of R along all other inputs. With
/// constraints g(y; p) = 0 whose multipliers are λ, dy solves
///
///   (J - Λ(λ)) dy - Gᵀ dλ = -dR + (∂G/∂p ṗ)ᵀ λ,   G dy = -∂g/∂p ṗ.
void ImplicitModel::Step::tangent(const Field& y, const ParameterSet& direction, State& tangent) {
  synchronise(tangent);
  Field dy = model_.system_->scratch_field("positions_tangent"), du = dy.like("prescribed_velocities_tangent");
  prescribe_tangent(tangent, direction, dy, du);
  linearise(y);
  const bool joints_move = tangent_space_ && body::has_placements(direction);
  Field normal = joints_move ? dy.like("normal") : Field();
  if (joints_move) {
    model_.system_->constraints()->require_known_turns(state_["positions"], y, body::ConstraintSet::TurnsFor::tangent);
    tangent_space_->add_change_by_placements(normal);
    model_.system_->mesh().vertex_exchange().copy_to_ghosts(normal);
    add_scaled(count_, 1.0, normal, dy);
  }
  KinematicFields along = kinematics_.make_fields(dy);
  kinematics_.evaluate(dy, du, tangent, along);
  along.synchronise();
  Field rhs = dy.like("rhs");
  Residual(*this, y).tangent(along, direction, rhs);
  if (joints_move) {
    tangent_space_->add_curvature(multipliers_, normal, 1.0, rhs);
    tangent_space_->add_force_by_placements(multipliers_, 1.0, rhs);
  }
  add_scaled(count_, 1.0, solve(std::move(rhs), false), dy);
  advance_tangent(dy, du, direction, tangent);
}

/// Solves Jᵀ w = ȳ in the free components. Adds -(∂R/∂·)ᵀ w to the adjoints of all other inputs of R.
void ImplicitModel::Step::adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* solution) {
  Field y_bar = model_.system_->scratch_field("positions_adjoint"), u_bar = y_bar.like("prescribed_velocities_adjoint");
  advance_adjoint(adjoint, y_bar, u_bar, gradient);
  linearise(y);
  const Field w = solve(y_bar.clone(), true);
  if (solution) solution->copy_from(w);
  KinematicFields bar = kinematics_.make_fields(y_bar);
  Residual(*this, y).adjoint(w, bar, {gradient, model_.system_->mass_gradient()});
  kinematics_.evaluate_adjoint(bar, y_bar, u_bar, adjoint);
  // The free components of y_bar are ȳ - Jᵀ w. Without constraints, these components are the residual of the linear
  // system. With constraints, these components satisfy ȳ - (J - Λ(λ))ᵀ w = Gᵀ µ.
  const bool to_joints = tangent_space_ && body::has_placements(gradient);
  if (tangent_space_ && (solution || to_joints)) {
    model_.system_->constraints()->require_known_turns(state_["positions"], y, body::ConstraintSet::TurnsFor::adjoint);
    Field normal = y_bar.clone();
    tangent_space_->add_curvature(multipliers_, w, 1.0, normal);
    adjoint_multipliers_ = tangent_space_->project(normal);
    // With a solution for second derivatives, `adjoint_tangent` adds the gradient.
    if (to_joints && !solution) tangent_space_->add_placement_gradient(multipliers_, w, adjoint_multipliers_);
  }
  prescribe_adjoint(y_bar, u_bar, adjoint, gradient);
}

/// Solves Jᵀ dw = dȳ - dJᵀ w in the free components. Adds -d[(∂R/∂·)ᵀ] w and then -(∂R/∂·)ᵀ dw to the adjoint tangents
/// of all other inputs of R. With constraints, dw solves
///
///   (J - Λ(λ))ᵀ dw + Gᵀ dµ = dȳ - dJᵀ w + Λ(dλ) w + Λ̇(λ) w - Ġᵀ µ,   G dw = -Ġ w
///
/// with the derivatives Λ̇(λ) of Λ(λ) at constant λ and Ġ of G along dy and the changes of the placements of joints.
void ImplicitModel::Step::adjoint_tangent(const Field& y, const Field& w, const StepTangent& tangent,
                                          const ParameterSet& direction, State& adjoint_tangent,
                                          ParameterSet& gradient_tangent) {
  Field y_bar = model_.system_->scratch_field("positions_adjoint"), u_bar = y_bar.like("prescribed_velocities_adjoint");
  KinematicFields along = kinematics_.make_fields(y_bar), bar = kinematics_.make_fields(y_bar);
  Field dy = y_bar.like("prescribed_positions_tangent"), du = y_bar.like("prescribed_velocities_tangent");
  prescribe_tangent(tangent.before, direction, dy, du);
  kinematics_.evaluate(tangent.after["positions"], du, tangent.before, along);
  along.synchronise();

  advance_adjoint(adjoint_tangent, y_bar, u_bar, gradient_tangent);
  Residual residual(*this, y);
  const Residual::Gradient gathered{gradient_tangent, model_.system_->mass_gradient_tangent()};
  residual.adjoint_tangent(along, direction, &w, nullptr, bar, gathered);
  kinematics_.evaluate_adjoint(bar, y_bar, u_bar, adjoint_tangent);
  // In the free components, y_bar is dȳ - dJᵀ w at this point.
  Field normal = y_bar.like("normal");
  const bool joints_move = tangent_space_ && body::has_placements(direction);
  body::Multipliers multiplier_change;
  if (tangent_space_) {
    const Field& change = tangent.after["positions"];
    Field balance = y_bar.like("balance");
    residual.tangent(along, direction, balance);
    scale(-1.0, balance);
    tangent_space_->add_curvature(multipliers_, change, -1.0, balance);
    if (joints_move) tangent_space_->add_force_by_placements(multipliers_, -1.0, balance);
    keep_free(count_, model_.system_->fixed(), balance);
    multiplier_change = tangent_space_->project(balance);
    tangent_space_->add_curvature(multiplier_change, w, 1.0, y_bar);
    tangent_space_->add_curvature_derivative(multipliers_, w, change, y_bar);
    tangent_space_->add_curvature(adjoint_multipliers_, change, -1.0, y_bar);
    if (joints_move) tangent_space_->add_force_by_placements(adjoint_multipliers_, -1.0, y_bar);
    tangent_space_->add_normal_derivative(w, change, normal);
    model_.system_->mesh().vertex_exchange().copy_to_ghosts(normal);
    residual.adjoint_tangent(along, direction, nullptr, &normal, bar, gathered);
    kinematics_.evaluate_adjoint(bar, y_bar, u_bar, adjoint_tangent);
    tangent_space_->add_curvature(multipliers_, normal, 1.0, y_bar);
  }
  const Field dw = solve(y_bar.clone(), true);
  residual.adjoint_tangent(along, direction, nullptr, &dw, bar, gathered);
  kinematics_.evaluate_adjoint(bar, y_bar, u_bar, adjoint_tangent);
  if (tangent_space_ && body::has_placements(gradient_tangent)) {
    Field remainder = y_bar.clone();  // Gᵀ dµ - Λ(λ) dw at this point
    tangent_space_->add_curvature(multipliers_, dw, 1.0, remainder);
    add_scaled(count_, 1.0, dw, normal);
    tangent_space_->add_placement_gradient_tangent({multipliers_, w, adjoint_multipliers_},
                                                   {multiplier_change, normal, tangent_space_->project(remainder)},
                                                   tangent.after["positions"]);
  }
  prescribe_adjoint(y_bar, u_bar, adjoint_tangent, gradient_tangent);
}

}  // namespace diffsim
