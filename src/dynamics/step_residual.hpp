// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/dynamics/implicit_model.hpp"
#include "dynamics/step_kinematics.hpp"

namespace diffsim {

/// Derivatives of the residual of an implicit step at new positions y,
///
///   R = M(p) (a - λ g(p)) - f(x, v, x_n, p),
///
/// by the kinematics (x, v, a, x_n) and by the parameters p. Every verb gives a derivative of -R, for right hand sides
/// of linear systems hold -R. StepKinematics says how x, v, a depend on y and on what the step begins with.
class ImplicitModel::Residual {
 public:
  /// Where parameters' gradients are gathered.
  struct Gradient {
    ParameterSet& parameters;
    Field& by_mass;  ///< [owned vertices, 3]; added to if the masses depend on one of `parameters`
  };

  /// Takes the step's configuration at y. While verbs are called, the step is asked for no configuration at other
  /// positions.
  Residual(Step& step, const Field& y);

  /// Computes out = -dR along (dx, dv, da), copies up to date, and dp.
  void tangent(const dynamics::KinematicFields& along, const ParameterSet& direction, Field& out);
  /// Computes (x̄, v̄, ā) = -(∂R/∂(x, v, a))ᵀ w, and adds -(∂R/∂p)ᵀ w to the gradient; copies of w are up to date.
  void adjoint(const Field& w, dynamics::KinematicFields& bar, const Gradient& gradient);
  /// Derivative of `adjoint` along (dx, dv, da), dp and dw: computes (x̄, v̄, ā) = -d[(∂R/∂(x, v, a))ᵀ w], and adds
  /// -d[(∂R/∂p)ᵀ w] to the gradient's derivative. A `w` or `dw` of nullptr stands for zero.
  void adjoint_tangent(const dynamics::KinematicFields& along, const ParameterSet& direction, const Field* w,
                       const Field* dw, dynamics::KinematicFields& bar, const Gradient& gradient_tangent);

 private:
  /// Adds factor · M (da - λ dg) to `out`.
  void add_acceleration_tangent(double factor, const dynamics::KinematicFields& along, const ParameterSet& direction,
                                Field& out) const;
  /// Adds -λ Σ ā: the gradient by gravity where ā = -M w, its derivative where ā is that of -M w.
  void add_gravity_gradient(const Field& a_bar, ParameterSet& gradient) const;

  ImplicitModel& model_;
  Step& step_;
  const Field& y_;
  int count_;
  Configuration at_;
};

}  // namespace diffsim
