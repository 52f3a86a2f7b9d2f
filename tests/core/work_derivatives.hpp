// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Returns the largest difference between the derivatives of the work Σ_a w_a·f_a that `work_derivatives` of `force`
/// computes and the derivatives of the work of `forces`, by Dual numbers. Each difference is divided by one plus the
/// magnitude of the derivative. `w`: vector w_a of each node a.
template <class F>
double error_of_work_derivatives(const F& force, const stencil::Values<F>& at, const stencil::Vectors<F>& w) {
  using Of = stencil::Inputs<F>;
  constexpr int n = Of::count;
  Vec3<Dual<double, n>> constant_w[F::num_nodes];
  for (int k = 0; k < Of::block; ++k) constant_w[k / 3][k % 3] = Dual<double, n>::constant(w[k / 3][k % 3]);
  const Dual<double, n> work =
      stencil::work_of(force, stencil::combined(at, stencil::Varied<n, stencil::InputAt<F>>{0}), constant_w);
  stencil::Values<F> by;
  force.work_derivatives(at, w, by);
  double error = 0.0;
  const auto compare = [&](int input, double derivative) {
    error = std::max(error, std::abs(derivative - work.derivative[input]) / (1.0 + std::abs(work.derivative[input])));
  };
  for (int k = 0; k < Of::block; ++k) {
    compare(k, by.x[k / 3][k % 3]);
    if (stencil::uses_velocities<F>()) compare(Of::velocities + k, by.v[k / 3][k % 3]);
  }
  for (int k = 0; k < F::num_values; ++k) compare(Of::first_value + k, by.p[k]);
  return error;
}

}  // namespace diffsim
