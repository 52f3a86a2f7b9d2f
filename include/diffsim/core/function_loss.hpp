// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "diffsim/core/loss.hpp"

namespace diffsim {

/// Function ℓ(n, x) of the state x of step n. Returns this rank's contribution to ℓ. If `gradient` is not null, also
/// adds ∂ℓ/∂x to the owned entries of `gradient`.
using StateLoss = std::function<double(int n, const State& state, State* gradient)>;

/// Loss L = Σ_n ℓ(n, x[n]) of a function. Provides first derivatives only.
class FunctionLoss final : public Loss {
 public:
  explicit FunctionLoss(StateLoss function, std::string unit = "1");

  std::string unit() const override { return unit_; }
  bool observes(int n) const override;
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;

 private:
  StateLoss function_;
  std::string unit_;
};

}  // namespace diffsim
