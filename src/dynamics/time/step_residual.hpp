// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameters.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "dynamics/time/step_kinematics.hpp"

namespace diffsim {

/// Derivatives of the residual of an implicit step at the positions y at the end of the step,
///
///   R = M(p) (a - λ g(p)) - f(x, v, x_n, p),
///
/// with respect to x, v, a, x_n and the parameters p. x, v and a are positions, velocities and accelerations, x_n are
/// the positions at the beginning of the step, M are masses, g is gravity, f are forces and λ is the load factor. Every
/// operation computes a derivative of -R, because right-hand sides of linear systems contain -R. StepKinematics defines
/// how x, v, a depend on y and on the state at the beginning of the step.
class ImplicitModel::Residual {
 public:
  /// Fields to which the adjoint operations add derivatives with respect to parameters and masses.
  struct Gradient {
    ParameterSet& parameters;
    /// Derivative with respect to masses, [owned vertices, 3]; used if masses depend on one of `parameters`.
    Field& by_mass;
  };

  /// Evaluates derivatives at `step.configuration(y)`. During the lifetime of this object, `step.configuration` must
  /// not be called for other positions.
  Residual(Step& step, const Field& y);

  /// Computes out = -dR, where dR is the derivative of R along `along` = (dx, dv, da, dx_n) and `direction` = dp. Ghost
  /// values of the directions must be up to date.
  void tangent(const dynamics::KinematicFields& along, const ParameterSet& direction, Field& out);
  /// Computes `bar` = (x̄, v̄, ā, x̄_n) = -(∂R/∂(x, v, a, x_n))ᵀ w for a vector w, and adds -(∂R/∂p)ᵀ w to the
  /// gradient. Ghost values of w must be up to date.
  void adjoint(const Field& w, dynamics::KinematicFields& bar, const Gradient& gradient);
  /// Derivative of `adjoint` along (dx, dv, da, dx_n), dp and dw: computes (x̄, v̄, ā, x̄_n) =
  /// -d[(∂R/∂(x, v, a, x_n))ᵀ w], and adds -d[(∂R/∂p)ᵀ w] to the gradient's derivative. A `w` or `dw` of nullptr stands
  /// for zero.
  void adjoint_tangent(const dynamics::KinematicFields& along, const ParameterSet& direction, const Field* w,
                       const Field* dw, dynamics::KinematicFields& bar, const Gradient& gradient_tangent);

 private:
  /// Adds factor · M (da - λ dg) to `out`.
  void add_acceleration_tangent(double factor, const dynamics::KinematicFields& along, const ParameterSet& direction,
                                Field& out) const;
  /// Adds -λ Σ ā, summed over the vertices on which gravity acts, to the gradient with respect to gravity. `a_bar`: ā =
  /// -M w for the gradient, or the derivative of -M w along a direction for the derivative of the gradient.
  void add_gravity_gradient(const Field& a_bar, ParameterSet& gradient) const;

  ImplicitModel& model_;
  Step& step_;
  const Field& y_;
  int count_;
  Configuration at_;
};

}  // namespace diffsim
