// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "core/field_pool.hpp"
#include "diffsim/core/state.hpp"
#include "dynamics/time/time_rule.hpp"

namespace diffsim::dynamics {

/// Positions x, velocities v and accelerations a in the equation of motion M a = f(x, v, x_n) + λ M g of an implicit
/// step, with masses M, forces f, load factor λ and gravity g, and the positions x_n at the beginning of the step. The
/// fields x, v, a and x_n have the shape [local vertices, 3]; a KinematicFields object may also contain the tangents or
/// the adjoints of these fields.
struct KinematicFields {
  /// Creates the fields `x`, `v`, `a` and `start` with the shape of `field` and zero values; if `lags` is false, the
  /// field `start` is empty.
  KinematicFields(const Field& field, bool lags)
      : x(field.like("x")), v(field.like("v")), a(field.like("a")), start(lags ? field.like("start") : Field()) {}
  bool has_start() const { return start.size() > 0; }
  /// Updates the ghost values of the positions x, velocities v and start positions x_n, on which forces depend. Ghost
  /// values of accelerations are not updated, because accelerations are read at owned vertices only.
  void synchronise();

  Field x, v, a, start;  ///< positions x, velocities v, accelerations a, and positions x_n at the beginning of the step
};

/// Linear maps between positions, velocities, accelerations and states of an implicit step, with the coefficients of a
/// TimeRule. The inputs of the maps are the positions y at the end of the step, the prescribed velocities u and the
/// state s at the beginning of the step. The map `evaluate` computes the positions, velocities and accelerations in the
/// equation of motion; the map `advance_state` computes the state at the end of the step. Each linear map is its own
/// tangent; the adjoint of a map is declared after the map. The suffix `_bar` of an argument denotes an adjoint. All
/// maps of StepKinematics act on owned vertices only.
class StepKinematics {
 public:
  /// `count`: number of components of a vector field at the owned vertices, three for each vertex. `fixed`: masks of
  /// the fixed or prescribed components (`System::fixed`). `lags`: true if forces depend on the positions at the
  /// beginning of the step. `scratch`: pool of temporary fields.
  StepKinematics(TimeRule rule, int count, const std::uint8_t* fixed, bool lags, FieldPool& scratch)
      : count_(count), fixed_(fixed), lags_(lags), rule_(std::move(rule)), scratch_(&scratch) {}

  const TimeRule& rule() const { return rule_; }
  /// Returns KinematicFields with the shape of `field` and zero values.
  KinematicFields make_fields(const Field& field) const { return {field, lags_}; }
  /// Computes out = Σ_k c_k s_k, where s_k are the fields of the state and c_k are their coefficients in `combination`.
  void combine_state(const Combination& combination, const State& state, Field& out) const;
  /// Adjoint of `combine_state`: adds c_k times `bar`, the adjoint of `out`, to field k of `state_bar`, for each
  /// coefficient c_k of `combination`.
  void combine_state_adjoint(const Combination& combination, const Field& bar, State& state_bar) const;

  /// Computes `out`, the fields x, v, a and x_n of the equation of motion, from the positions y at the end of the step,
  /// the prescribed velocities u and the state at the beginning of the step. Prescribed components of the velocities v
  /// equal those of the prescribed velocities u.
  void evaluate(const Field& y, const Field& u, const State& state, KinematicFields& out) const;
  /// Adjoint of `evaluate`: adds the contributions of `bar`, the adjoint of `out`, to `y_bar`, `u_bar` and `state_bar`.
  /// The prescribed components of `bar.v`, the adjoint of the velocities v, are added to `u_bar` and then set to zero.
  void evaluate_adjoint(KinematicFields& bar, Field& y_bar, Field& u_bar, State& state_bar) const;

  /// Adds y to the positions x, v_y y to the velocities v and a_y y to the accelerations a, including prescribed
  /// components, where v_y and a_y are the coefficients of y in the TimeRule. The Jacobian of the residual R with
  /// respect to y is J = ∂R/∂x + v_y ∂R/∂v + a_y ∂R/∂a.
  void add_positions(const Field& y, KinematicFields& out) const;
  /// Adjoint of `add_positions`: adds the contributions of `bar`, the adjoint of `out`, to `y_bar`, the adjoint of `y`.
  void add_positions_adjoint(const KinematicFields& bar, Field& y_bar) const;

  /// Replaces `state`, the state at the beginning of the step, by the state at the end of the step, computed from the
  /// positions y at the end, the prescribed velocities u and the state at the beginning. At the end of the step,
  /// prescribed components have the prescribed velocity u and zero acceleration. Fields of `state` that the TimeRule
  /// does not contain belong to prescribed motions and are unchanged.
  void advance_state(const Field& y, const Field& u, State& state) const;
  /// Adjoint of `advance_state`: replaces `adjoint`, the adjoint of the state at the end of the step, by the adjoint of
  /// the state at the beginning of the step, adds the contributions of `advance_state` to `y_bar`, and sets `u_bar`.
  void advance_state_adjoint(State& adjoint, Field& y_bar, Field& u_bar) const;

 private:
  /// Copies the fields of prescribed motions, which the TimeRule does not contain, from the state `from` to the state
  /// `to`.
  void keep_other_fields(const State& from, State& to) const;
  /// Returns true if field k of the state contains velocities or accelerations, which are zero in fixed components.
  bool is_rate(std::size_t k) const {
    return rule_.fields[k] == "velocities" || rule_.fields[k].ends_with("accelerations");
  }

  int count_;
  const std::uint8_t* fixed_;
  bool lags_;
  TimeRule rule_;
  FieldPool* scratch_;
};

}  // namespace diffsim::dynamics
