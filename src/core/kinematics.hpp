// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Time interval within time step `step`, from `begin` to `begin` + `duration`. `begin` and `duration` are in s;
/// `begin` is measured from the start of the time step.
struct MotionSpan {
  int step;
  double begin;
  double duration;
};

/// Prescribed motion of some nodes. The positions and velocities of these nodes are functions of earlier positions of
/// the nodes, of parameters, and of fields that the motion stores in the state. Forces do not affect these nodes.
///
/// Position fields are [local nodes, 3] or [owned nodes, 3]. Velocity fields are [n, 3], where n is at least the number
/// of owned nodes. Operations change values at the motion's nodes only. The argument `start` is the state at the start
/// of the time step; a motion reads only those fields of `start` that `add_state` of this motion adds.
class Kinematics {
 public:
  virtual ~Kinematics() = default;
  virtual std::string name() const = 0;

  /// Adds to `state` the fields that the motion stores in the state, with the values at the start of a rollout.
  virtual void add_state(State& /*state*/) const {}
  /// Advances the motion's fields in `state` over a time step of length dt (s).
  virtual void advance(const ParameterSet& /*parameters*/, int /*step*/, double /*dt*/, State& /*state*/) const {}
  virtual void advance_tangent(const ParameterSet& /*parameters*/, const ParameterSet& /*direction*/, int /*step*/,
                               double /*dt*/, State& /*tangent*/) const {}
  /// Applies the adjoint of `advance` to `adjoint` in place. Adds this rank's contribution to the gradient.
  virtual void advance_adjoint(const ParameterSet& /*parameters*/, int /*step*/, double /*dt*/, State& /*adjoint*/,
                               ParameterSet& /*gradient*/) const {}

  /// Sets the positions y and the velocities v at the end of `span` from the positions x at the start of `span`. x and
  /// y may be the same field.
  virtual void apply(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                     Field& y, Field& v) const = 0;
  /// Sets dy and dv, the derivatives along a direction of the results y and v of `apply`. The direction is `direction`
  /// for the parameters, `start_tangent` for `start`, and dx for x. dx and dy may be the same field.
  virtual void apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, const MotionSpan& span,
                             const State& start, const State& start_tangent, const Field& x, const Field& dx, Field& dy,
                             Field& dv) const = 0;
  /// Applies the adjoint of `apply`. On entry, `y_bar` and `v_bar` contain ȳ and v̄, the derivatives of a scalar with
  /// respect to the results y and v of `apply`. The function replaces ȳ by x̄, the derivative with respect to the
  /// argument x of `apply`, and v̄ by 0. Also adds this rank's contributions to the adjoint of `start` and to the
  /// gradient. The computation of second derivatives also calls this function, with the derivatives of ȳ and v̄ along a
  /// direction instead of ȳ and v̄. Second derivatives computed in this way are exact if the motion is affine in x, in
  /// `start` and in the parameters that have second derivatives.
  virtual void apply_adjoint(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                             Field& y_bar, Field& v_bar, State& start_adjoint, ParameterSet& gradient) const = 0;
};

}  // namespace diffsim
