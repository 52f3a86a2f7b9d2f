// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

namespace diffsim::body {

/// Holonomic constraint g(x) = 0 on the positions x_k of nodes. The function g is the scalar product of two vectors A
/// and B, each an affine function of the positions, plus a linear function of the positions, minus a constant c:
///   g(x) = A·B + Σ_k l_k·x_k - c,   A = a₀ + Σ_k a_k x_k,   B = b₀ + Σ_k b_k x_k
/// with constant weights a_k and b_k, and constant vectors a₀, b₀ and l_k. The second derivatives of the constraint
/// function g are constant.
///
/// Examples of constraints g(x) = A·B + Σ_k l_k·x_k - c = 0; the vectors l_k are zero in all examples except the last:
/// - The distance between two nodes is constant: A = B = x_1 - x_2, c = length².
/// - A point of one body coincides with a point of another body: for each of three constraints, A is the difference of
///   the points, B is a constant unit vector, and c = 0.
/// - Directions of two bodies enclose a right angle: A and B are the directions, c = 0.
/// - A component of the position x_1 of a node is the cosine of the angle between two unit directions A and B: l_1 is
///   minus the coordinate direction of the component, c = 0.
struct Constraint {
  struct Entry {
    int node;                           ///< index k of a node of the constraint
    double a, b;                        ///< weights a_k and b_k
    std::array<double, 3> linear = {};  ///< vector l_k
  };
  std::vector<Entry> entries;      ///< one entry for each node of the constraint
  std::array<double, 3> a{}, b{};  ///< constants a₀ and b₀
  double value = 0.0;              ///< constant c
};

}  // namespace diffsim::body
