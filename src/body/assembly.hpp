// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "body/constraint.hpp"
#include "body/node_vectors.hpp"

namespace diffsim::body {

/// Constraints g_k(x) = 0, k = 1 … n, on the positions x of a set of nodes, and the linear algebra of the multipliers
/// λ_k, on the host.
///
/// G(x) is the matrix of the gradients ∂g_k/∂x. The constraint force at the positions x is G(x)ᵀ λ. A time step that
/// begins at the positions x changes given positions y₀ or velocities v₀ of the nodes by C G(x)ᵀ λ, where C is a
/// diagonal matrix with one factor per node. The multipliers λ follow from
///
///   positions:   g(y) = 0,    y = y₀ + C G(x)ᵀ λ   (SHAKE: Ryckaert, Ciccotti & Berendsen 1977)
///   velocities:  G(x) v = 0,  v = v₀ + C G(x)ᵀ λ   (RATTLE: Andersen 1983)
///
/// The derivative of the equations with respect to λ is S(y, x) = G(y) C G(x)ᵀ for positions, and S(x, x) for
/// velocities. Vectors of type NodeVectors may have entries for more nodes than the nodes of the constraints; the
/// functions read and change only the entries of the nodes of the constraints.
class Assembly {
 public:
  /// Constructs the object for the given constraints. `name` is used in messages; for example "body 'crate'".
  Assembly(std::string name, std::vector<Constraint> constraints);

  const std::string& name() const { return name_; }
  std::size_t size() const { return constraints_.size(); }

  /// Returns the values g_k(x) of the constraints, [n].
  template <class T>
  std::vector<T> values(const NodeVectors<T>& x) const;
  /// Returns G(x) w, the derivatives of the constraints at x along the node vectors w, [n].
  template <class T>
  std::vector<T> project(const NodeVectors<T>& x, const NodeVectors<T>& w) const;
  /// Adds scale · G(x)ᵀ λ to `forces`, where the columns of G(x)ᵀ are the gradients of the constraints at x.
  template <class T>
  void add_forces(const NodeVectors<T>& x, const std::vector<T>& lambda, double scale, NodeVectors<T>& forces) const;
  /// Adds scale · (Σ_k λ_k ∇²g_k) w to `forces`, with the constant second derivatives ∇²g_k of the constraints.
  template <class T>
  void add_curvature(const std::vector<T>& lambda, const NodeVectors<T>& w, double scale, NodeVectors<T>& forces) const;

  /// Returns wᵀ ∇²g_k u for each constraint g_k, [n], with the constant second derivatives ∇²g_k and the node vectors w
  /// and u.
  std::vector<double> second_derivative(const NodeVectors<double>& w, const NodeVectors<double>& u) const;

  /// Returns the indices of the nodes of the constraints in increasing order, [N].
  std::vector<int> node_numbers() const;
  /// Returns the matrix of the orthogonal projection onto the kernel of G(x), I - Gᵀ (G Gᵀ)⁻¹ G, [3N, 3N], symmetric. G
  /// is the matrix of the gradients of the constraints. Rows and columns are the three components of each of the N
  /// nodes, in the order of `node_numbers`. Throws Error if the gradients of the constraints are linearly dependent at
  /// x.
  std::vector<double> projector(const NodeVectors<double>& x) const;
  /// Returns the matrix Σ_k λ_k ∇²g_k, [3N, 3N], symmetric, with the constant second derivatives ∇²g_k of the
  /// constraints. Rows and columns are as in `projector`.
  std::vector<double> curvature(const std::vector<double>& lambda) const;

  /// Throws Error (input) if the gradients of the constraints are linearly dependent at the positions x. `ones`: vector
  /// with the entry 1 for each node.
  void require_independent(const NodeVectors<double>& x, const std::vector<double>& ones) const;
  /// Returns the solution z of S z = r, or of Sᵀ z = r if `transposed`, with S = G(y) C G(x)ᵀ and the matrix G of the
  /// gradients of the constraints. `factors`: diagonal of C, one factor per node. Throws Error if S is singular, for
  /// example because a time step moves nodes too far.
  template <class T>
  std::vector<T> solve(const NodeVectors<T>& y, const NodeVectors<T>& x, const std::vector<T>& factors, bool transposed,
                       const std::vector<T>& r) const;

  /// Solves the equations g(y) = 0, y = y₀ + C G(x)ᵀ λ for y and λ by Newton's method, up to rounding errors, and
  /// returns λ. G is the matrix of the gradients of the constraints g. In the first iteration, g is linearised at x.
  /// `factors`: diagonal of C, one factor per node. `y`: y₀ on entry, the solution on return. `scratch` is overwritten
  /// at the nodes of the constraints. Throws Error if Newton's method does not converge.
  std::vector<double> correct_positions(const NodeVectors<double>& x, const std::vector<double>& factors,
                                        NodeVectors<double>& y, NodeVectors<double>& scratch) const;

 private:
  /// Returns A(x)·B(w) + A(w)·B(x) + Σ_k l_k·w_k for each constraint g(x) = A(x)·B(x) + Σ_k l_k·x_k - c (see
  /// Constraint), [n]. A(w) and B(w) omit the constants a₀ and b₀. If `with_constants` is false, A(x) and B(x) also
  /// omit the constants, and the sum Σ_k l_k·w_k is omitted.
  template <class T>
  std::vector<T> products(const NodeVectors<T>& x, bool with_constants, const NodeVectors<T>& w) const;
  /// Adds scale · Σ_k λ_k h_k to `forces`. h_k is the vector for which h_kᵀ w is entry k of `products(x,
  /// with_constants, w)` for every w.
  template <class T>
  void add_transposed_products(const NodeVectors<T>& x, bool with_constants, const std::vector<T>& lambda, double scale,
                               NodeVectors<T>& forces) const;
  /// Returns the matrix S = G(y) C G(x)ᵀ, [n, n], column-major, with the matrix G of the gradients of the constraints.
  /// `factors`: diagonal of C, one factor per node.
  template <class T>
  std::vector<T> multiplier_matrix(const NodeVectors<T>& y, const NodeVectors<T>& x,
                                   const std::vector<T>& factors) const;
  std::string too_large() const;

  std::string name_;
  std::vector<Constraint> constraints_;
  /// Constraint that depends on a node: the index of the constraint, and the index of the node in
  /// `Constraint::entries`.
  struct Place {
    int constraint, entry;
  };
  struct Node {
    int number;
    std::vector<Place> places;
  };
  std::vector<Node> nodes_;
};

}  // namespace diffsim::body
