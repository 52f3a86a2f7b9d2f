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
  /// Updates the ghost values of x, v and x_n, which forces read. Accelerations are read at owned vertices only.
  void synchronise();

  Field x, v, a, start;
};

/// Linear maps of one implicit step with the coefficients of a time rule. The inputs are the new positions y, the
/// prescribed velocities u and the state s at the beginning of the step. `evaluate` computes x, v and a of the equation
/// of motion, `advance_state` computes the next state. A linear map is its own tangent; the adjoint is declared after
/// each map. All maps act on owned vertices only.
class StepKinematics {
 public:
  /// `count`: 3 × owned vertices. `fixed`: mask of the prescribed components. `lags`: true if forces depend on the
  /// positions at the beginning of the step. `scratch`: pool of temporary fields.
  StepKinematics(TimeRule rule, int count, const std::uint8_t* fixed, bool lags, FieldPool& scratch)
      : count_(count), fixed_(fixed), lags_(lags), rule_(std::move(rule)), scratch_(&scratch) {}

  const TimeRule& rule() const { return rule_; }
  /// Returns zero fields with the shape of `field`.
  KinematicFields make_fields(const Field& field) const { return {field, lags_}; }
  /// Computes out = Σ_k c_k s_k, where s_k are the fields of the state and c_k are their coefficients in `combination`.
  void combine_state(const Combination& combination, const State& state, Field& out) const;
  /// Adjoint of `combine_state`: adds the contributions to `state_bar`.
  void combine_state_adjoint(const Combination& combination, const Field& bar, State& state_bar) const;

  /// Computes (x, v, a) and x_n from (y, u, s). Prescribed components have the velocity u.
  void evaluate(const Field& y, const Field& u, const State& state, KinematicFields& out) const;
  /// Adjoint of `evaluate`: adds the contributions to ȳ, ū and s̄. Moves the prescribed components of v̄ to ū.
  void evaluate_adjoint(KinematicFields& bar, Field& y_bar, Field& u_bar, State& state_bar) const;

  /// Adds (x_y, v_y, a_y) y to (x, v, a), including prescribed components, where x_y, v_y, a_y are the coefficients of
  /// y in the time rule. The Jacobian of Newton's method is J = ∂R/∂(x, v, a) · (x_y, v_y, a_y).
  void add_positions(const Field& y, KinematicFields& out) const;
  /// Adjoint of `add_positions`: adds the contributions to ȳ.
  void add_positions_adjoint(const KinematicFields& bar, Field& y_bar) const;

  /// Replaces the state s by the next state, computed from y, u and s. Prescribed components have the velocity u and
  /// zero acceleration. Fields outside the time rule, which belong to prescribed motions, are unchanged.
  void advance_state(const Field& y, const Field& u, State& state) const;
  /// Adjoint of `advance_state`: replaces `adjoint` by the adjoint of the state at the beginning of the step, adds the
  /// contributions to ȳ, and sets ū.
  void advance_state_adjoint(State& adjoint, Field& y_bar, Field& u_bar) const;

 private:
  /// Copies the fields outside the time rule, which belong to prescribed motions.
  void keep_other_fields(const State& from, State& to) const;
  /// Returns true if field k of the state is a rate, which is zero in fixed components.
  bool is_rate(std::size_t k) const { return rule_.fields[k] == "velocities" || rule_.fields[k] == "accelerations"; }

  int count_;
  const std::uint8_t* fixed_;
  bool lags_;
  TimeRule rule_;
  FieldPool* scratch_;
};

}  // namespace diffsim::dynamics
