// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "core/field_pool.hpp"
#include "diffsim/core/state.hpp"
#include "dynamics/time/time_rule.hpp"

namespace diffsim::dynamics {

/// Positions x, velocities v and accelerations a in the equation of motion of an implicit step,
/// M a = f(x, v, x_n) + λ M g with the load factor λ, and the positions x_n at the beginning of the step, each
/// [local vertices, 3]. An object
/// of this struct may also contain the tangents or the adjoints of these fields.
struct KinematicFields {
  /// Creates zero fields with the shape of `field`. x_n is empty unless `lags`.
  KinematicFields(const Field& field, bool lags)
      : x(field.like("x")), v(field.like("v")), a(field.like("a")), start(lags ? field.like("start") : Field()) {}
  bool has_start() const { return start.size() > 0; }
  /// Updates the ghost values of x, v and x_n, on which forces depend. Accelerations are read at owned vertices only.
  void synchronise();

  Field x, v, a, start;
};

/// Linear maps of one implicit step with the coefficients of a TimeRule. The inputs are the positions y at the end of
/// the step, the prescribed velocities u and the state s at the beginning of the step. Bars denote adjoints. `evaluate`
/// computes x, v and a of the equation of motion, `advance_state` computes the next state. A linear map is its own
/// tangent; the adjoint is declared after each map. All maps act on owned vertices only.
class StepKinematics {
 public:
  /// `count`: 3 × owned vertices. `fixed`: masks of the fixed or prescribed components (`System::fixed`). `lags`: true
  /// if forces depend on the positions at the beginning of the step. `scratch`: pool of temporary fields.
  StepKinematics(TimeRule rule, int count, const std::uint8_t* fixed, bool lags, FieldPool& scratch)
      : count_(count), fixed_(fixed), lags_(lags), rule_(std::move(rule)), scratch_(&scratch) {}

  const TimeRule& rule() const { return rule_; }
  /// Returns zero fields with the shape of `field`.
  KinematicFields make_fields(const Field& field) const { return {field, lags_}; }
  /// Computes out = Σ_k c_k s_k, where s_k are the fields of the state and c_k are their coefficients in `combination`.
  void combine_state(const Combination& combination, const State& state, Field& out) const;
  /// Adjoint of `combine_state`: adds c_k times `bar`, the adjoint of `out`, to field k of `state_bar`, for each k.
  void combine_state_adjoint(const Combination& combination, const Field& bar, State& state_bar) const;

  /// Computes the positions x, velocities v and accelerations a in the equation of motion, and the positions x_n at the
  /// beginning of the step, from y, u and s. Prescribed components have the velocity u.
  void evaluate(const Field& y, const Field& u, const State& state, KinematicFields& out) const;
  /// Adjoint of `evaluate`: adds the contributions to `y_bar`, `u_bar` and `state_bar`. Adds the prescribed components
  /// of the adjoint of v to `u_bar`, and zeroes them in `bar`.
  void evaluate_adjoint(KinematicFields& bar, Field& y_bar, Field& u_bar, State& state_bar) const;

  /// Adds x_y y to x, v_y y to v and a_y y to a, including prescribed components, where x_y, v_y, a_y are the
  /// coefficients of y in the TimeRule. The Jacobian of the residual R is J = x_y ∂R/∂x + v_y ∂R/∂v + a_y ∂R/∂a.
  void add_positions(const Field& y, KinematicFields& out) const;
  /// Adjoint of `add_positions`: adds the contributions of `bar` to `y_bar`.
  void add_positions_adjoint(const KinematicFields& bar, Field& y_bar) const;

  /// Replaces the state s at the beginning of the step by the state at the end, computed from y, u and s. Prescribed
  /// components have the velocity u and zero acceleration. Fields of `state` that the TimeRule does not contain belong
  /// to prescribed motions and are unchanged.
  void advance_state(const Field& y, const Field& u, State& state) const;
  /// Adjoint of `advance_state`: replaces `adjoint`, the adjoint of the state at the end of the step, by the adjoint of
  /// the state at the beginning, adds the contributions to `y_bar`, and sets `u_bar`.
  void advance_state_adjoint(State& adjoint, Field& y_bar, Field& u_bar) const;

 private:
  /// Copies the fields that the TimeRule does not contain. These fields belong to prescribed motions.
  void keep_other_fields(const State& from, State& to) const;
  /// Returns true if field k of the state contains velocities or accelerations, which are zero in fixed components.
  bool is_rate(std::size_t k) const { return rule_.fields[k] == "velocities" || rule_.fields[k] == "accelerations"; }

  int count_;
  const std::uint8_t* fixed_;
  bool lags_;
  TimeRule rule_;
  FieldPool* scratch_;
};

}  // namespace diffsim::dynamics
