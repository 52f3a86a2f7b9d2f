// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "body/constraint_set.hpp"

namespace diffsim::body {

/// Lagrange multipliers of the constraints of all assemblies for which this rank does the computations (see
/// ConstraintSet), [assemblies][constraints of the assembly].
using Multipliers = std::vector<std::vector<double>>;

/// Tangent space of the constraints g = 0 of a system at positions y: the changes of positions w with G(y) w = 0, where
/// G = ∂g/∂x. Only the vertices of rigid bodies and of joints' rotors are constrained. The orthogonal complement of the
/// tangent space contains the constraint forces G(y)ᵀ λ with the Lagrange multipliers λ.
///
/// Fields that are arguments of the functions of TangentSpace have the shape [local or owned vertices, 3]; only values
/// at owned vertices are read and changed. The constructor and all functions of TangentSpace with a Field argument are
/// collective.
class TangentSpace {
 public:
  TangentSpace(const ConstraintSet& set, const Field& y);

  const ConstraintSet& constraints() const { return *set_; }
  /// Positions y of the nodes of the constraints.
  const NodeVectors<double>& positions() const { return y_; }

  /// Replaces the vector w by w - G(y)ᵀ λ, the orthogonal projection of w onto the tangent space, and returns the
  /// Lagrange multipliers λ. G is the matrix of the gradients of the constraints. Throws Error if the gradients of the
  /// constraints are linearly dependent at the positions y.
  Multipliers project(Field& w) const;
  /// Adds scale · (Σ_k λ_k ∇²g_k) w to `out`, with the Lagrange multipliers λ_k and the second derivatives ∇²g_k of the
  /// constraint functions g_k at y.
  void add_curvature(const Multipliers& lambda, const Field& w, double scale, Field& out) const;
  /// Adds to `out` the derivative of (Σ_k λ_k ∇²g_k) w along the change dy of the positions y and the change of the
  /// points, axes and ratios of joints (ConstraintSet::set_direction), with constant multipliers λ_k and constant w.
  /// The derivative is zero if all constraints are of type Constraint and no points and axes change.
  void add_curvature_derivative(const Multipliers& lambda, const Field& w, const Field& dy, Field& out) const;
  /// Returns this rank's contribution to the squared Frobenius norm of Σ_k λ_k ∇²g_k, with the Lagrange multipliers λ_k
  /// and the second derivatives ∇²g_k of the constraint functions g_k at y.
  double curvature_square(const Multipliers& lambda) const;
  /// Adds ẇ = -Gᵀ (G Gᵀ)⁻¹ Ġ w to `out`, where the rows of the matrix G(y) are the gradients of the constraint
  /// functions g_k, and Ġ is the derivative of G along dy and along the change of the points, axes and ratios of joints
  /// (ConstraintSet::set_direction). If G changes by Ġ, a vector w stays in the tangent space only if w changes by some
  /// δw with G δw + Ġ w = 0; ẇ is the component of δw orthogonal to the tangent space.
  void add_normal_derivative(const Field& w, const Field& dy, Field& out) const;
  /// Adds dy = -Gᵀ (G Gᵀ)⁻¹ ∂g/∂p ṗ to `out`, where ṗ is the change of the points, axes and ratios p of joints
  /// (ConstraintSet::set_direction). The change dy of the positions y is orthogonal to the tangent space and preserves
  /// g(y; p) = 0 to first order: G dy + ∂g/∂p ṗ = 0.
  void add_change_by_placements(Field& out) const;
  /// Adds scale · (∂G/∂p ṗ)ᵀ λ to `out`, the change of the constraint force with constant positions and multipliers λ.
  void add_force_by_placements(const Multipliers& lambda, double scale, Field& out) const;
  /// Adds ∂/∂p (λᵀ G(y; p) w - µᵀ g(y; p)) to the derivatives that `ConstraintSet::placed_joints` accumulates.
  void add_placement_gradient(const Multipliers& lambda, const Field& w, const Multipliers& mu) const;
  /// Arguments λ, w and µ of `add_placement_gradient`, or changes of these arguments.
  struct Adjoints {
    const Multipliers& lambda;
    const Field& w;
    const Multipliers& mu;
  };
  /// Adds the derivatives that `add_placement_gradient` adds, and the changes of these derivatives along the changes
  /// `change` of λ, w and µ, the change dy of the positions y, and the change of the points, axes and ratios of joints
  /// (ConstraintSet::set_direction).
  void add_placement_gradient_tangent(const Adjoints& at, const Adjoints& change, const Field& dy) const;
  /// Replaces the positions x by x + G(y)ᵀ λ, where G is the matrix of the gradients of the constraints and λ is such
  /// that the result satisfies the constraints. Returns false on all ranks, and does not change x, if Newton's method
  /// for the Lagrange multipliers does not converge on some rank. `start`: positions at the beginning of the time step
  /// (`Assembly::correct_positions`); the default is y.
  bool retract(Field& x, const Field* start = nullptr) const;

 private:
  const ConstraintSet* set_;
  NodeVectors<double> y_;
  std::vector<double> ones_;
};

}  // namespace diffsim::body
