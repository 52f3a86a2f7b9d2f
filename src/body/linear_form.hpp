// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "body/constraint.hpp"

namespace diffsim::body {

/// Vector with components of the type T.
template <class T>
using VectorOf = std::array<T, 3>;
using Vector = VectorOf<double>;

/// Vector that is an affine function of the positions x_k of nodes: at_rest + Σ_k w_k (x_k - X_k), with the weights w_k
/// and the rest positions X_k of the nodes. The scalar type T is double, or a Dual if the weights and the vector at the
/// rest positions have derivatives with respect to parameters.
template <class T>
struct LinearFormOf {
  struct Term {
    int node;     ///< index k of the node
    T weight;     ///< weight w_k
    Vector rest;  ///< rest position X_k
  };
  std::vector<Term> terms;
  VectorOf<T> at_rest{T(0), T(0), T(0)};
};
using LinearForm = LinearFormOf<double>;

template <class T>
LinearFormOf<T> operator-(const LinearFormOf<T>& a, const LinearFormOf<T>& b);
/// Returns the constraint that a·b keeps its value at the rest positions, where a and b are vectors that depend on the
/// positions of nodes. The constraint has an entry for each node of a or b, even if both weights are zero.
template <class T>
ConstraintOf<T> product(const LinearFormOf<T>& a, const LinearFormOf<T>& b);
/// Adds `direction`·(`form`(x) - `form`(X)) to the function g of the constraint g(x) = 0, where X are the rest
/// positions.
template <class T>
void add_component(const LinearForm& form, const Vector& direction, ConstraintOf<T>& constraint);

/// Returns the rows of the inverse of the matrix with the columns X_k - X_0, k = 1, 2, 3, where X_k are the rest
/// positions `rest`. The scalar product of row k and a vector v is the weight w_k in v = Σ_k w_k (X_k - X_0).
std::array<Vector, 3> inverse_edges(const std::array<Vector, 4>& rest);

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
  template <class T>
  LinearFormOf<T> point(const VectorOf<T>& rest) const;
  /// Returns the current value of the material vector that equals `rest` in the rest configuration, as a function of
  /// the positions of the body's nodes.
  template <class T>
  LinearFormOf<T> direction(const VectorOf<T>& rest) const;
  /// Returns the six constraints of a rigid body: u_k · u_l is constant for 1 ≤ k ≤ l ≤ 3, where u_1, u_2 and u_3 are
  /// half of the vectors between the midpoints of opposite edges of the tetrahedron with the nodes x_0, x_1, x_2 and
  /// x_3, for example u_1 = (x_0 - x_1 + x_2 - x_3)/4. If the four nodes are almost in a plane, the six constraints
  /// that `rigidity` returns are still linearly independent, whereas constraints on the six distances between the nodes
  /// would be almost dependent.
  std::vector<Constraint> rigidity() const;

 private:
  int first_node_ = -1;
  std::array<Vector, 4> rest_{};
  std::array<Vector, 3> to_weights_{};  // result of `inverse_edges`
};

}  // namespace diffsim::body
