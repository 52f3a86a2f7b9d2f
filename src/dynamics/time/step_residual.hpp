// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameters.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "dynamics/time/step_kinematics.hpp"

namespace diffsim {

/// Derivatives of the residual of an implicit step
///   R = M(p) (a - λ g(p)) - f(x, v, x_n, p)
/// with respect to positions x, velocities v, accelerations a, the positions x_n at the beginning of the step and the
/// parameters p, where M are masses, g is gravity, f are forces and λ is the load factor. The class StepKinematics
/// defines how positions x, velocities v and accelerations a in the residual depend on the positions y at the end of
/// the step, the prescribed velocities and the state at the beginning of the step. Every operation of `Residual`
/// computes a derivative of the negative residual -R, because right-hand sides of linear systems contain -R.
class ImplicitModel::Residual {
 public:
  /// Fields to which the adjoint operations add derivatives with respect to parameters and masses.
  struct Gradient {
    ParameterSet& parameters;
    /// Gradient with respect to masses, [owned vertices, 3]; used if masses depend on a parameter in `parameters`.
    Field& by_mass;
  };

  /// Evaluates derivatives at `step.configuration(y)`. During the lifetime of a Residual for the positions y,
  /// `step.configuration` must not be called for other positions.
  Residual(Step& step, const Field& y);

  /// Computes out = -dR, where dR is the derivative of the residual R for the changes (dx, dv, da, dx_n) = `along` of
  /// positions, velocities, accelerations and start positions, and the change dp = `direction` of the parameters. Ghost
  /// values of the fields of `along` must be up to date.
  void tangent(const dynamics::KinematicFields& along, const ParameterSet& direction, Field& out);
  /// Computes `bar` = (x̄, v̄, ā, x̄_n) = -(∂R/∂(x, v, a, x_n))ᵀ w for the residual R and a vector w, and adds -(∂R/∂p)ᵀ w
  /// to the gradient. Ghost values of the argument `w` must be up to date.
  void adjoint(const Field& w, dynamics::KinematicFields& bar, const Gradient& gradient);
  /// Derivative of `adjoint` for the changes (dx, dv, da, dx_n) = `along`, dp = `direction` and dw: computes `bar` =
  /// -d[(∂R/∂(x, v, a, x_n))ᵀ w], and adds -d[(∂R/∂p)ᵀ w] to the gradient's derivative `gradient_tangent`, where d[·]
  /// is the derivative for these changes. A nullptr as argument `w` or `dw` stands for a zero vector.
  void adjoint_tangent(const dynamics::KinematicFields& along, const ParameterSet& direction, const Field* w,
                       const Field* dw, dynamics::KinematicFields& bar, const Gradient& gradient_tangent);

 private:
  /// Adds factor · M (da - λ dg) to `out`, with masses M, the load factor λ, and the derivatives da of accelerations
  /// and dg of gravity.
  void add_acceleration_tangent(double factor, const dynamics::KinematicFields& along, const ParameterSet& direction,
                                Field& out) const;
  /// Adds -λ Σ ā to the gradient with respect to gravity, where λ is the load factor, ā is `a_bar`, and the sum is over
  /// the vertices on which gravity acts. `a_bar`: for the gradient, the vector -M w with the masses M and the vector w
  /// of `adjoint`; for the derivative of the gradient along a direction, the derivative of -M w along this direction.
  void add_gravity_gradient(const Field& a_bar, ParameterSet& gradient) const;

  ImplicitModel& model_;
  Step& step_;
  const Field& y_;
  int count_;
  Configuration at_;
};

}  // namespace diffsim
