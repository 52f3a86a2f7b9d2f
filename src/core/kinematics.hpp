// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Time interval within time step `step`, from `begin` to `begin` + `duration`. `begin` and `duration` are in seconds;
/// `begin` is measured from the start of the time step.
struct MotionSpan {
  int step;
  double begin;
  double duration;
};

/// Prescribed motion of some nodes. The positions and velocities of the prescribed nodes are functions of earlier
/// positions of these nodes, of parameters, and of fields that the motion stores in the state. Forces do not affect
/// nodes with a prescribed motion.
///
/// Position fields have the shape [local nodes, 3] or [owned nodes, 3]. Velocity fields have the shape [n, 3], where n
/// is at least the number of owned nodes. The member functions of Kinematics change fields only at nodes with a
/// prescribed motion. The argument `start` is the state at the start of the time step; a motion reads only the fields
/// of `start` that the motion's function `add_state` adds.
class Kinematics {
 public:
  virtual ~Kinematics() = default;
  virtual std::string name() const = 0;

  /// Adds to `state` the fields that the motion stores in the state, with the values at the start of a rollout.
  virtual void add_state(State& /*state*/) const {}
  /// Advances the fields that the motion stores in `state` over a time step of length dt (s).
  virtual void advance(const ParameterSet& /*parameters*/, int /*step*/, double /*dt*/, State& /*state*/) const {}
  virtual void advance_tangent(const ParameterSet& /*parameters*/, const ParameterSet& /*direction*/, int /*step*/,
                               double /*dt*/, State& /*tangent*/) const {}
  /// Applies the adjoint of `advance` to the state `adjoint` in place, and adds this rank's contribution to `gradient`.
  virtual void advance_adjoint(const ParameterSet& /*parameters*/, int /*step*/, double /*dt*/, State& /*adjoint*/,
                               ParameterSet& /*gradient*/) const {}

  /// Sets the positions y and the velocities v at the end of the time interval `span` from the positions x at the start
  /// of the interval. x and y may be the same field.
  virtual void apply(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                     Field& y, Field& v) const = 0;
  /// Sets dy and dv, the derivatives of the results y and v of `apply` along the change `direction` of the parameters,
  /// the change `start_tangent` of the state `start`, and the change dx of the positions x. dx and dy may be the same
  /// field.
  virtual void apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, const MotionSpan& span,
                             const State& start, const State& start_tangent, const Field& x, const Field& dx, Field& dy,
                             Field& dv) const = 0;
  /// Applies the adjoint of `apply`. On entry, `y_bar` and `v_bar` contain ȳ and v̄, the derivatives of a scalar with
  /// respect to the results y and v of `apply`. `apply_adjoint` replaces `y_bar` by x̄, the derivative with respect to
  /// the argument x of `apply`, sets `v_bar` to 0, and adds this rank's contributions to `start_adjoint`, the adjoint
  /// of the state `start`, and to `gradient`. The computation of second derivatives also calls `apply_adjoint`, with
  /// the directional derivatives of ȳ and v̄ instead of ȳ and v̄. Second derivatives computed in this way are exact if
  /// the motion is affine in the positions x, in the state `start` and in the parameters that have second derivatives.
  virtual void apply_adjoint(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                             Field& y_bar, Field& v_bar, State& start_adjoint, ParameterSet& gradient) const = 0;
};

}  // namespace diffsim
