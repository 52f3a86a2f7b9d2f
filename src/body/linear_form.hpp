// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "body/constraint.hpp"

namespace diffsim::body {

using Vector = std::array<double, 3>;

/// Vector that is an affine function of the positions x_k of nodes: constant + Σ_k w_k x_k, with the weights w_k.
struct LinearForm {
  std::vector<std::pair<int, double>> terms;  ///< index k and weight w_k of each node
  Vector constant{};
};

LinearForm operator-(const LinearForm& a, const LinearForm& b);
/// Returns the constraint a·b = value, where a and b are vectors that depend on the positions of nodes.
Constraint product(const LinearForm& a, const LinearForm& b, double value);
/// Adds the scalar product of `direction` and `form` to the function g of the constraint g = 0.
void add_component(const LinearForm& form, const Vector& direction, Constraint& constraint);

/// Body whose points are affine functions of the positions of four nodes (an affine body), or the world, whose points
/// do not move.
class Frame {
 public:
  /// Creates the frame of the world.
  Frame() = default;
  /// Creates the frame of an affine body. `first_node`: index of the first of the body's four nodes, which have
  /// consecutive indices. `rest`: rest positions (m) of the body's four nodes.
  Frame(int first_node, const std::array<Vector, 4>& rest);

  bool is_world() const { return first_node_ < 0; }
  int first_node() const { return first_node_; }  ///< index of the first of the body's nodes; negative for the world
  /// Returns the current position of the material point with the rest position `rest`, as a function of the positions
  /// of the body's nodes.
  LinearForm point(const Vector& rest) const;
  /// Returns the current value of the material vector that equals `rest` in the rest configuration, as a function of
  /// the positions of the body's nodes.
  LinearForm direction(const Vector& rest) const;
  /// Returns the six constraints of a rigid body: u_k · u_l is constant for 1 ≤ k ≤ l ≤ 3, where u_1, u_2 and u_3 are
  /// half of the vectors between the midpoints of opposite edges of the tetrahedron with the nodes x_0, x_1, x_2 and
  /// x_3, for example u_1 = (x_0 - x_1 + x_2 - x_3)/4. If the four nodes are almost in a plane, the six constraints
  /// that `rigidity` returns are still linearly independent, whereas constraints on the six distances between the nodes
  /// would be almost dependent.
  std::vector<Constraint> rigidity() const;

 private:
  int first_node_ = -1;
  std::array<Vector, 4> rest_{};
  std::array<Vector, 3> to_weights_{};  // rows of the inverse of the matrix whose columns are x_k - x_0 at rest
};

}  // namespace diffsim::body
