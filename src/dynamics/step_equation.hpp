// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/state.hpp"
#include "dynamics/time_rule.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim::dynamics {

/// The equation R(y) = 0 of one implicit step, as those see it who differentiate it.
class StepEquation {
 public:
  /// `count`: 3 owned vertices.
  StepEquation(TimeRule rule, int n, int count) : n_(n), count_(count), rule_(std::move(rule)) {}
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
  void combine_state(const Combination& combination, const State& state, Field& out) const {
    out.fill(0.0);
    for (std::size_t k = 0; k < combination.state.size(); ++k)
      if (combination.state[k] != 0.0) add_scaled(count_, combination.state[k], state.fields()[k], out);
  }

 protected:
  int n_;
  int count_;
  TimeRule rule_;
};

}  // namespace diffsim::dynamics
