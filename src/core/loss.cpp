// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/loss.hpp"

#include <utility>

namespace diffsim {

FunctionLoss::FunctionLoss(StateLoss function, std::string unit)
    : function_(std::move(function)), unit_(std::move(unit)) {}

bool FunctionLoss::observes(int /*n*/) const { return true; }

double FunctionLoss::value(int n, const State& state, const ParameterSet& /*parameters*/) {
  return function_(n, state, nullptr);
}

double FunctionLoss::tangent(int n, const State& state, const ParameterSet& /*parameters*/, const State& tangent,
                             const ParameterSet& /*direction*/) {
  State gradient = state.zero_like();
  function_(n, state, &gradient);
  return local_dot(gradient, tangent);
}

void FunctionLoss::add_gradient(int n, const State& state, const ParameterSet& /*parameters*/, State& adjoint,
                                ParameterSet& /*gradient*/) {
  function_(n, state, &adjoint);
}

}  // namespace diffsim
