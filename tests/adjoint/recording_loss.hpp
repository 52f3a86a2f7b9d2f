// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "diffsim/core/loss.hpp"

namespace diffsim::testing_adjoint {

/// Loss that records the last call of a function that adds derivatives.
class RecordingLoss final : public Loss {
 public:
  using Call = std::pair<std::string, int>;  ///< name of the function, and number of the state

  std::string unit() const override { return "m"; }
  double num_observations() const override { return 7.0; }
  bool multiply(double by) override {
    factor *= by;
    return true;
  }
  bool observes(int n) const override { return n % 2 == 0; }
  double value(int n, const State&, const ParameterSet&) override { return 10.0 * n + 1.0; }
  double tangent(int n, const State&, const ParameterSet&, const State&, const ParameterSet&) override {
    return 10.0 * n + 2.0;
  }
  void add_gradient(int n, const State&, const ParameterSet&, State&, ParameterSet&) override {
    last = {"add_gradient", n};
  }
  void add_gradient_tangent(int n, const State&, const ParameterSet&, const State&, const ParameterSet&, State&,
                            ParameterSet&) override {
    last = {"add_gradient_tangent", n};
  }
  void add_gauss_newton(int n, const State&, const ParameterSet&, const State&, const ParameterSet&, State&,
                        ParameterSet&) override {
    last = {"add_gauss_newton", n};
  }

  double factor = 1.0;
  Call last;
};

/// Expects each function of `loss` to call the same function of `target`, with numbers of states increased by `first`.
inline void expect_forwards(Loss& loss, const RecordingLoss& target, int first) {
  using Call = RecordingLoss::Call;
  State state, tangent, adjoint;
  ParameterSet parameters, direction, gradient;
  EXPECT_EQ(loss.unit(), target.unit());
  EXPECT_EQ(loss.num_observations(), target.num_observations());
  EXPECT_TRUE(loss.multiply(3.0));
  EXPECT_EQ(target.factor, 3.0);
  for (const int n : {0, 1, 2}) {
    EXPECT_EQ(loss.observes(n), target.observes(first + n)) << n;
    EXPECT_EQ(loss.value(n, state, parameters), 10.0 * (first + n) + 1.0);
    EXPECT_EQ(loss.tangent(n, state, parameters, tangent, direction), 10.0 * (first + n) + 2.0);
    loss.add_gradient(n, state, parameters, adjoint, gradient);
    EXPECT_EQ(target.last, Call("add_gradient", first + n));
    loss.add_gradient_tangent(n, state, parameters, tangent, direction, adjoint, gradient);
    EXPECT_EQ(target.last, Call("add_gradient_tangent", first + n));
    loss.add_gauss_newton(n, state, parameters, tangent, direction, adjoint, gradient);
    EXPECT_EQ(target.last, Call("add_gauss_newton", first + n));
  }
}

}  // namespace diffsim::testing_adjoint
