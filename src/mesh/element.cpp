// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/impl/element.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace diffsim {
namespace {

using Barycentric = std::array<double, 4>;

/// Returns barycentric coordinates: `most` for corner a, and `rest` for each of the other corners.
Barycentric towards(std::size_t a, double most, double rest) {
  Barycentric lambda{rest, rest, rest, rest};
  lambda[a] = most;
  return lambda;
}

}  // namespace

double jacobian(const QuadraticCell& x, const Barycentric& lambda) {
  // ∂x/∂λ_a = (4 λ_a - 1) x_a + Σ_b 4 λ_b x_ab, with the four λ treated as independent.
  double by_lambda[4][3];
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t c = 0; c < 3; ++c) by_lambda[a][c] = (4.0 * lambda[a] - 1.0) * x[a][c];
  for (std::size_t e = 0; e < 6; ++e) {
    const auto a = static_cast<std::size_t>(edge_corners[e][0]), b = static_cast<std::size_t>(edge_corners[e][1]);
    for (std::size_t c = 0; c < 3; ++c) {
      by_lambda[a][c] += 4.0 * lambda[b] * x[4 + e][c];
      by_lambda[b][c] += 4.0 * lambda[a] * x[4 + e][c];
    }
  }
  double j[3][3];
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t c = 0; c < 3; ++c) j[k][c] = by_lambda[k + 1][c] - by_lambda[0][c];
  return j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) - j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
         j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
}

double least_jacobian(const QuadraticCell& x) {
  // Points of the degree-2 rule (Hammer & Stroud 1956): coordinates (5 + 3√5)/20 and (5 - √5)/20.
  constexpr double near = 0.5854101966249685, far = 0.1381966011250105;
  double least = jacobian(x, towards(0, 1.0, 0.0));
  const auto look_at = [&](const Barycentric& lambda) {
    const double here = jacobian(x, lambda);
    if (!(here >= least)) least = here;  // also true for NaN: one NaN position makes all values NaN
  };
  for (std::size_t a = 0; a < 4; ++a) {
    look_at(towards(a, 1.0, 0.0));
    look_at(towards(a, near, far));
  }
  for (const auto& edge : edge_corners) {
    Barycentric middle{};
    for (const int a : edge) middle[static_cast<std::size_t>(a)] = 0.5;
    look_at(middle);
  }
  return least;
}

double least_relative_jacobian(const QuadraticCell& x) {
  double longest = 0.0;
  for (const auto& edge : edge_corners) {
    const auto &a = x[static_cast<std::size_t>(edge[0])], &b = x[static_cast<std::size_t>(edge[1])];
    longest = std::max(longest, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
  }
  // Scale the positions before the products are computed, to avoid overflow and underflow.
  QuadraticCell scaled;
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t c = 0; c < 3; ++c) scaled[i][c] = (x[i][c] - x[0][c]) / longest;
  return least_jacobian(scaled);
}

double volume(const QuadraticCell& x) {
  // Five-point quadrature rule of degree 3 (Zienkiewicz & Taylor, ch. 9).
  double sum = -0.8 * jacobian(x, {0.25, 0.25, 0.25, 0.25});
  for (std::size_t a = 0; a < 4; ++a) sum += 0.45 * jacobian(x, towards(a, 0.5, 1.0 / 6.0));
  return sum / 6.0;
}

}  // namespace diffsim
