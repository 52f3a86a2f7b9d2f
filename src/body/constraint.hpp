// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

namespace diffsim::body {

/// Holonomic constraint on nodes x_k, a product of two vectors that are linear in the nodes:
///
///   g(x) = A·B - c = 0,   A = a₀ + Σ_k a_k x_k,   B = b₀ + Σ_k b_k x_k
///
/// Examples: the distance between two nodes (A = B = x_1 - x_2, c = length²); a point of one body that coincides with a
/// point of another body (one constraint per component: A is the difference of the points, B a constant unit vector,
/// c = 0); a right angle between directions of two bodies (A and B are the directions, c = 0). The second derivatives
/// of g are constant.
struct Constraint {
  struct Entry {
    int node;
    double a, b;
  };
  std::vector<Entry> entries;      ///< one for each node
  std::array<double, 3> a{}, b{};  ///< a₀ and b₀
  double value = 0.0;              ///< c
};

}  // namespace diffsim::body
