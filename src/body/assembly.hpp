// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "body/constraint.hpp"
#include "body/joint_coupling.hpp"
#include "body/node_vectors.hpp"
#include "body/placement.hpp"

namespace diffsim::body {

/// Set of n constraints g_k(x) = 0, k = 1 … n, on the positions x of nodes: first those of type Constraint, whose
/// second derivatives are constant, then those of type JointCoupling. The member functions of Assembly, which run on
/// the host, compute values and derivatives of the constraints, and solve linear and nonlinear equations for the
/// Lagrange multipliers λ_k.
///
/// The constraint force at the positions x is G(x)ᵀ λ, where the rows of the matrix G(x) are the gradients ∂g_k/∂x. The
/// Lagrange multipliers λ of a time step that begins at the positions x follow from
///   positions:   g(y) = 0,    y = y₀ + C G(x)ᵀ λ   (SHAKE: Ryckaert, Ciccotti & Berendsen 1977)
///   velocities:  G(x) v = 0,  v = v₀ + C G(x)ᵀ λ   (RATTLE: Andersen 1983)
/// with given positions y₀ or velocities v₀ of the nodes, and a diagonal matrix C with one factor per node. The
/// derivative with respect to λ is S(y, x) = G(y) C G(x)ᵀ for the function g(y), and S(x, x) for the function G(x) v.
///
/// Vectors of type NodeVectors may have entries for more nodes than the nodes of the constraints; the member functions
/// of Assembly read and change only the entries of the nodes of the constraints.
class Assembly {
 public:
  /// Constructs an Assembly of the given constraints. `name`: name of the assembly in messages, for example "body
  /// 'crate'".
  Assembly(std::string name, std::vector<Constraint> constraints, std::vector<JointCoupling> couplings = {});

  /// Replaces the constraints of type Constraint from the index `first` on. The new constraints must have the same
  /// nodes as the old ones, in the same order. `along`: the same constraints, with the derivatives of their
  /// coefficients along a change of parameters. Member functions with T = `Along` (body/placement.hpp) include the
  /// derivatives of the coefficients.
  void replace(std::size_t first, const std::vector<Constraint>& constraints,
               const std::vector<ConstraintOf<Along>>& along);
  /// Replaces the constraint of type JointCoupling with the index `k` among the constraints of this type. `along`: the
  /// same constraint, with the derivatives of the coefficients along a change of parameters.
  void replace_coupling(std::size_t k, const JointCoupling& coupling, const JointCouplingOf<Along>& along);

  const std::string& name() const { return name_; }
  std::size_t size() const { return constraints_.size() + couplings_.size(); }

  /// Returns the values g_k(x) of the n constraint functions, [n].
  template <class T>
  std::vector<T> values(const NodeVectors<T>& x) const;
  /// Returns G(x) w, the derivatives of the n constraint functions at x along the node vectors w, [n].
  template <class T>
  std::vector<T> project(const NodeVectors<T>& x, const NodeVectors<T>& w) const;
  /// Adds scale · G(x)ᵀ λ to `forces`, where the columns of G(x)ᵀ are the gradients of the constraints at x and λ are
  /// the Lagrange multipliers.
  template <class T>
  void add_forces(const NodeVectors<T>& x, const std::vector<T>& lambda, double scale, NodeVectors<T>& forces) const;
  /// Adds scale · (Σ_k λ_k ∇²g_k) w to `forces`, with the Lagrange multipliers λ_k and the second derivatives ∇²g_k of
  /// the constraint functions at x.
  template <class T>
  void add_curvature(const NodeVectors<T>& x, const std::vector<T>& lambda, const NodeVectors<T>& w, double scale,
                     NodeVectors<T>& forces) const;

  /// Returns the indices of the N nodes of the constraints in increasing order, [N].
  std::vector<int> node_numbers() const;
  /// Returns I - Gᵀ (G Gᵀ)⁻¹ G, the symmetric matrix of the orthogonal projection onto the kernel of G(x), [3N, 3N] for
  /// N nodes, where the rows of the matrix G(x) are the gradients of the constraints. The rows and columns correspond
  /// to the three components of each node, in the order of `node_numbers`. Throws Error if the gradients of the
  /// constraints are linearly dependent at the positions x.
  std::vector<double> projector(const NodeVectors<double>& x) const;
  /// Returns the symmetric matrix Σ_k λ_k ∇²g_k, [3N, 3N] for N nodes, with the Lagrange multipliers λ_k and the second
  /// derivatives ∇²g_k of the constraint functions at x. The rows and columns correspond to the three components of
  /// each node, in the order of `node_numbers`.
  std::vector<double> curvature(const NodeVectors<double>& x, const std::vector<double>& lambda) const;

  /// Throws Error (input) if the gradients of the constraints are linearly dependent at the positions x. `ones`: vector
  /// with the entry 1 for each node.
  void require_independent(const NodeVectors<double>& x, const std::vector<double>& ones) const;
  /// Returns the solution z of S z = r, or of Sᵀ z = r if `transposed`, with S = G(y) C G(x)ᵀ and the matrix G of the
  /// gradients of the constraints. `factors`: diagonal of the matrix C, one factor per node. Throws Error if S is
  /// singular, for example because a time step moves nodes too far.
  template <class T>
  std::vector<T> solve(const NodeVectors<T>& y, const NodeVectors<T>& x, const std::vector<T>& factors, bool transposed,
                       const std::vector<T>& r) const;

  /// Solves the equations g(y) = 0, y = y₀ + C G(x)ᵀ λ by Newton's method, up to rounding errors, for the positions y
  /// and the Lagrange multipliers λ, and returns λ. G is the matrix of the gradients of the constraint functions g. The
  /// first iteration of Newton's method linearises g at x instead of y₀.
  ///
  /// `factors`: diagonal of the matrix C, one factor per node. `y`: the given positions y₀ on entry, the solution on
  /// return. `scratch`: working array, which is overwritten at the nodes of the constraints. `start`: positions at the
  /// beginning of the time step, from which both coordinates of a coupling differ by at most π (`whole_turns`); the
  /// default is x. Throws Error if Newton's method does not converge.
  std::vector<double> correct_positions(const NodeVectors<double>& x, const std::vector<double>& factors,
                                        NodeVectors<double>& y, NodeVectors<double>& scratch,
                                        const NodeVectors<double>* start = nullptr) const;

 private:
  /// Returns `values(x)`, with the whole turns of couplings since the positions `start`.
  std::vector<double> values_since(const NodeVectors<double>& start, const NodeVectors<double>& x) const;
  /// Returns A(x)·B(w) + A(w)·B(x) + Σ_k l_k·w_k for each constraint g(x) = A(x)·B(x) + Σ_k l_k·x_k - c = 0 of type
  /// Constraint with affine functions A and B. A(w) and B(w) are computed without the constant terms a₀ and b₀ of A and
  /// B. If `with_constants` is false, A(x) and B(x) are also computed without a₀ and b₀, and the sum Σ_k l_k·w_k is
  /// omitted.
  template <class T>
  std::vector<T> products(const NodeVectors<T>& x, bool with_constants, const NodeVectors<T>& w) const;
  /// Adds scale · Σ_k λ_k h_k with the Lagrange multipliers λ_k to `forces`, for the constraints of type Constraint,
  /// where h_k is the vector for which h_kᵀ w is entry k of `products(x, with_constants, w)` for every vector w.
  template <class T>
  void add_transposed_products(const NodeVectors<T>& x, bool with_constants, const std::vector<T>& lambda, double scale,
                               NodeVectors<T>& forces) const;
  /// Returns the matrix S = G(y) C G(x)ᵀ, [n, n], column-major, with the matrix G of the gradients of the n
  /// constraints. `factors`: diagonal of the matrix C, one factor per node.
  template <class T>
  std::vector<T> multiplier_matrix(const NodeVectors<T>& y, const NodeVectors<T>& x,
                                   const std::vector<T>& factors) const;
  /// Gradients of all constraints at given positions.
  template <class T>
  class Gradients;
  std::string too_large() const;

  std::string name_;
  /// Constraints of type Constraint, with the scalar type T of the calling member function.
  template <class T>
  const std::vector<ConstraintOf<T>>& constraints() const;

  std::vector<Constraint> constraints_;
  std::vector<ConstraintOf<Along>> along_;  // `constraints_` with the derivatives of their coefficients
  template <class T>
  const std::vector<JointCouplingOf<T>>& couplings() const;

  std::vector<JointCoupling> couplings_;
  std::vector<JointCouplingOf<Along>> along_couplings_;  // `couplings_` with derivatives
  /// Constraint that depends on a node: the index of the constraint, and the index of the node in
  /// `Constraint::entries` or in `JointCoupling::nodes`.
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
