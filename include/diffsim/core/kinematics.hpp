// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Part of a step: from `begin` to `begin` + `duration`, s, both since the beginning of step `step`.
struct MotionSpan {
  int step;
  double begin;
  double duration;
};

/// Motion that is prescribed to some nodes: their positions and velocities are given functions of where the nodes have
/// been, of parameters, and of what the motion keeps in the state. Such nodes follow no force.
///
/// Fields of positions are [local or owned nodes, 3], those of velocities [owned nodes, 3] or more; the verbs touch the
/// motion's nodes only. `start` is the state that the step began with, of which a motion reads the fields of its own.
class Kinematics {
 public:
  virtual ~Kinematics() = default;
  virtual std::string name() const = 0;

  /// Adds the fields that the motion keeps in the state, with their values at the start of a rollout.
  virtual void add_state(State& /*state*/) const {}
  /// Takes these fields through a step of length dt.
  virtual void advance(const ParameterSet& /*parameters*/, int /*step*/, double /*dt*/, State& /*state*/) const {}
  virtual void advance_tangent(const ParameterSet& /*parameters*/, const ParameterSet& /*direction*/, int /*step*/,
                               double /*dt*/, State& /*tangent*/) const {}
  /// Adds this rank's share of the gradient.
  virtual void advance_adjoint(const ParameterSet& /*parameters*/, int /*step*/, double /*dt*/, State& /*adjoint*/,
                               ParameterSet& /*gradient*/) const {}

  /// Sets y and v at the end of `span` from the positions x at its beginning; x may be y.
  virtual void apply(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                     Field& y, Field& v) const = 0;
  /// Sets dy and dv; dx may be dy.
  virtual void apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, const MotionSpan& span,
                             const State& start, const State& start_tangent, const Field& x, const Field& dx, Field& dy,
                             Field& dv) const = 0;
  /// ȳ → x̄ and v̄ → 0; adds this rank's shares of the adjoint of `start` and of the gradient. Second derivatives call it
  /// for the derivatives of ȳ and v̄ too: exact where the motion is affine in x, `start` and the parameters that have
  /// second derivatives.
  virtual void apply_adjoint(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x,
                             Field& y_bar, Field& v_bar, State& start_adjoint, ParameterSet& gradient) const = 0;
};

}  // namespace diffsim
