// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "diffsim/core/field_pool.hpp"
#include "diffsim/core/state.hpp"
#include "dynamics/time_rule.hpp"

namespace diffsim::dynamics {

/// Positions, velocities and accelerations in the equation of motion of an implicit step, M a = f(x, v, x_n) + λ M g,
/// and the positions x_n that the step begins with, or their tangents or adjoints; [local vertices, 3].
struct KinematicFields {
  /// Zeros, shaped like `field`; x_n is empty unless a term `lags`.
  KinematicFields(const Field& field, bool lags)
      : x(field.like("x")), v(field.like("v")), a(field.like("a")), start(lags ? field.like("start") : Field()) {}
  bool has_start() const { return start.size() > 0; }
  /// Sets the copies of other ranks' x, v and x_n, as forces read them; a is read at owned vertices only.
  void synchronise();

  Field x, v, a, start;
};

/// Linear maps of one implicit step, by its time rule: from the new positions y, the prescribed velocities u and the
/// state s that the step begins with to the x, v, a of the equation of motion, and to the next state. A linear map is
/// its own tangent; its adjoint stands next to it. All maps work on owned vertices only.
class StepKinematics {
 public:
  /// `count`: 3 owned vertices; `fixed`: the mask of the components whose motion is prescribed.
  /// `lags`: forces depend on the positions that the step begins with. `scratch`: what fields that end within a
  /// function are from.
  StepKinematics(TimeRule rule, int count, const std::uint8_t* fixed, bool lags, FieldPool& scratch)
      : count_(count), fixed_(fixed), lags_(lags), rule_(std::move(rule)), scratch_(&scratch) {}

  const TimeRule& rule() const { return rule_; }
  /// Returns zeros, shaped like `field`.
  KinematicFields make_fields(const Field& field) const { return {field, lags_}; }
  /// Computes out = Σ_k c_k s_k.
  void combine_state(const Combination& combination, const State& state, Field& out) const;
  /// Adjoint of `combine_state`: adds to s̄.
  void combine_state_adjoint(const Combination& combination, const Field& bar, State& state_bar) const;

  /// Computes (x, v, a), and x_n, from (y, u, s); prescribed components have the velocity u.
  void evaluate(const Field& y, const Field& u, const State& state, KinematicFields& out) const;
  /// Adjoint of `evaluate`: adds to ȳ, ū and s̄. The part of v̄ that goes to ū leaves v̄.
  void evaluate_adjoint(KinematicFields& bar, Field& y_bar, Field& u_bar, State& state_bar) const;

  /// Adds (x_y, v_y, a_y) y to (x, v, a), in prescribed components too. That is how the Jacobian of Newton's method
  /// takes y: J = ∂R/∂(x, v, a) · (x_y, v_y, a_y).
  void add_positions(const Field& y, KinematicFields& out) const;
  /// Adjoint of `add_positions`: adds to ȳ.
  void add_positions_adjoint(const KinematicFields& bar, Field& y_bar) const;

  /// Replaces the state s by the next one, computed from y, u and s; prescribed components have the velocity u and no
  /// acceleration. Fields that the time rule does not have, those of prescribed motions, stay as they are.
  void advance_state(const Field& y, const Field& u, State& state) const;
  /// Adjoint of `advance_state`: `adjoint` becomes that of the old state; adds to ȳ, sets ū.
  void advance_state_adjoint(State& adjoint, Field& y_bar, Field& u_bar) const;

 private:
  /// Copies the fields that the time rule does not have.
  void keep_other_fields(const State& from, State& to) const;
  /// Whether field k of the state is a rate: zero where components are fixed.
  bool is_rate(std::size_t k) const { return rule_.fields[k] == "velocities" || rule_.fields[k] == "accelerations"; }

  int count_;
  const std::uint8_t* fixed_;
  bool lags_;
  TimeRule rule_;
  FieldPool* scratch_;
};

}  // namespace diffsim::dynamics
