// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim::testing_core {

/// Returns the greatest relative error of the hand-written derivatives of a stencil's energy, compared with Dual
/// numbers.
template <class F>
double error_of_derivatives(const F& force, const stencil::Values<F>& at) {
  constexpr int n = stencil::Inputs<F>::count;
  const Dual<double, n> energy = force.energy(stencil::combined(at, stencil::Varied<n, stencil::InputAt<F>>{0}));
  EXPECT_GT(energy.value, 0.0);
  stencil::Values<F> by;
  force.energy_derivatives(at, by);
  double error = 0.0;
  const auto compare = [&](int input, double derivative) {
    error = std::max(error, std::abs(derivative - energy.derivative[input]) / (1.0 + std::abs(derivative)));
  };
  for (int k = 0; k < 3 * F::num_nodes; ++k) {
    compare(k, by.x[k / 3][k % 3]);
    if constexpr (stencil::uses_rest<F>()) compare(stencil::Inputs<F>::rest + k, by.X[k / 3][k % 3]);
  }
  for (int k = 0; k < F::num_values; ++k) compare(stencil::Inputs<F>::first_value + k, by.p[k]);
  return error;
}

}  // namespace diffsim::testing_core
