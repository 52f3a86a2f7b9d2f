// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

namespace diffsim::body {

/// Holonomic constraint g(x) = 0 on the positions x_k of nodes. A and B are two vectors that are affine functions of
/// the positions. The sum of the scalar product A·B and a linear function of the positions keeps the value that this
/// sum has at the rest positions X_k:
///   g(x) = A·B - a₀·b₀ + Σ_k l_k·u_k,   A = a₀ + Σ_k a_k u_k,   B = b₀ + Σ_k b_k u_k,   u_k = x_k - X_k
/// with constant weights a_k and b_k, and constant vectors a₀, b₀ and l_k. The second derivatives of the constraint
/// function g are constant. g is computed from the displacements u_k, so that rounding errors are small for small
/// displacements, also for bodies far from the origin.
///
/// The scalar type T is double, or a Dual if the weights and the vectors a₀, b₀ and l_k have derivatives with respect
/// to parameters.
///
/// Examples; the vectors l_k are zero in all examples except the last:
/// - The distance between two nodes is constant: A = B = x_1 - x_2.
/// - A point of one body coincides with a point of another body: for each of three constraints, A is the difference of
///   the points, and B is a constant unit vector.
/// - Directions of two bodies enclose a right angle: A and B are the directions.
/// - A component of the displacement u_1 of a node equals the change of the cosine of the angle between two unit
///   directions A and B: l_1 is minus the coordinate direction of the component.
template <class T>
struct ConstraintOf {
  struct Entry {
    int node;                                   ///< index k of a node of the constraint
    std::array<double, 3> rest;                 ///< rest position X_k
    T a, b;                                     ///< weights a_k and b_k
    std::array<T, 3> linear{T(0), T(0), T(0)};  ///< vector l_k
  };
  std::vector<Entry> entries;                                 ///< one entry for each node of the constraint
  std::array<T, 3> a{T(0), T(0), T(0)}, b{T(0), T(0), T(0)};  ///< constants a₀ and b₀
};
using Constraint = ConstraintOf<double>;

}  // namespace diffsim::body
