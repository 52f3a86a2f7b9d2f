// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/state.hpp"
#include "dynamics/time_rule.hpp"

namespace diffsim::dynamics {

/// The equation R(y) = 0 of one implicit step, as those see it who differentiate it.
class StepEquation {
 public:
  /// `count`: 3 owned vertices; `fixed`: the mask of their components whose motion is prescribed.
  StepEquation(TimeRule rule, int n, int count, const std::uint8_t* fixed)
      : n_(n), count_(count), fixed_(fixed), rule_(std::move(rule)) {}
  virtual ~StepEquation() = default;

  const TimeRule& rule() const { return rule_; }
  int number() const { return n_; }
  int count() const { return count_; }
  virtual const State& state() const = 0;  ///< the step begins with
  virtual double load_factor(const Parameter& load) const = 0;
  /// Where forces are evaluated for y; valid until the next call.
  virtual Configuration configuration(const Field& y, std::int32_t* invalid_cell = nullptr) = 0;
  /// M (a(y) - λ g), into a field that stays valid until the next call.
  virtual Field& acceleration_of(const Field& y) = 0;
  /// Takes the exact J at y for the `solve` calls that follow.
  virtual void linearise(const Field& y) = 0;
  /// J x = b, or Jᵀ x = b, on the free components. Throws Error where it cannot be solved.
  virtual void solve(const Field& b, Field& x, bool transposed) = 0;

  /// Whether field k of the state is a rate: zero where components are fixed.
  bool is_rate(std::size_t k) const { return rule_.fields[k] == "velocities" || rule_.fields[k] == "accelerations"; }
  /// out = Σ_k c_k s_k at owned vertices.
  void combine_state(const Combination& combination, const State& state, Field& out) const;

  /// `state` becomes the next one, of which y are the positions; prescribed components have the velocities of their
  /// motion, w, and no acceleration. Linear in (state, y, w), so it is its own tangent. Owned vertices only.
  void advance_state(const Field& y, const Field& w, State& state) const;
  /// Its adjoint: `adjoint` becomes that of the old state; adds that of y, sets that of w.
  void advance_state_adjoint(State& adjoint, Field& y_bar, Field& w_bar) const;
  /// The adjoint of what positions, velocities and accelerations of the equation take from the old state and, where
  /// components are prescribed, from w. The part of `v_bar` that goes to w leaves it.
  void history_adjoint(const Field& x_bar, Field& v_bar, const Field& a_bar, State& old, Field& w_bar) const;

 protected:
  int n_;
  int count_;
  const std::uint8_t* fixed_;
  TimeRule rule_;
};

}  // namespace diffsim::dynamics
