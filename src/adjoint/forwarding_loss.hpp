// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/loss.hpp"

namespace diffsim {

/// Base class of Losses whose functions call the functions of another Loss for state `first` + n instead of state n.
/// The Loss whose functions are called must outlive the ForwardingLoss.
class ForwardingLoss : public Loss {
 public:
  explicit ForwardingLoss(Loss& loss, int first = 0) : loss_(loss), first_(first) {}

  std::string unit() const override { return loss_.unit(); }
  double num_observations() const override { return loss_.num_observations(); }
  bool multiply(double factor) override { return loss_.multiply(factor); }
  bool observes(int n) const override { return loss_.observes(first_ + n); }
  double value(int n, const State& state, const ParameterSet& parameters) override {
    return loss_.value(first_ + n, state, parameters);
  }
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override {
    return loss_.tangent(first_ + n, state, parameters, tangent, direction);
  }
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override {
    loss_.add_gradient(first_ + n, state, parameters, adjoint, gradient);
  }
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override {
    loss_.add_gradient_tangent(first_ + n, state, parameters, tangent, direction, adjoint_tangent, gradient_tangent);
  }
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override {
    loss_.add_gauss_newton(first_ + n, state, parameters, tangent, direction, adjoint, gradient);
  }

 private:
  Loss& loss_;
  int first_;
};

}  // namespace diffsim
