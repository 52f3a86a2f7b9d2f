// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "body/constraint_set.hpp"

namespace diffsim::body {

/// Multipliers λ of the constraints for which a rank does the computations, [assemblies][constraints of the assembly]
/// (see ConstraintSet).
using Multipliers = std::vector<std::vector<double>>;

/// Tangent space of the constraints g = 0 of a system at positions y: the changes of positions w with G(y) w = 0, where
/// G = ∂g/∂x. Vertices that do not belong to rigid bodies are not constrained. The orthogonal complement contains the
/// constraint forces G(y)ᵀ λ.
///
/// Fields are [local or owned vertices, 3]; only values at owned vertices are read and changed. The constructor and all
/// functions with a Field argument are collective.
class TangentSpace {
 public:
  TangentSpace(const ConstraintSet& set, const Field& y);

  const ConstraintSet& constraints() const { return *set_; }
  /// Positions y of the nodes of the constraints.
  const NodeVectors<double>& positions() const { return y_; }

  /// Replaces w by its orthogonal projection onto the tangent space, w - G(y)ᵀ λ, and returns λ. G is the matrix of the
  /// gradients of the constraints. Throws Error if these gradients are linearly dependent at y.
  Multipliers project(Field& w) const;
  /// Adds scale · (Σ_k λ_k ∇²g_k) w to `out`, with the constant second derivatives ∇²g_k of the constraints g_k.
  void add_curvature(const Multipliers& lambda, const Field& w, double scale, Field& out) const;
  /// Returns this rank's contribution to the squared Frobenius norm of Σ_k λ_k ∇²g_k, with the constant second
  /// derivatives ∇²g_k of the constraints g_k.
  double curvature_square(const Multipliers& lambda) const;
  /// Adds a vector ẇ to `out`, the component, orthogonal to the tangent space, of the derivative of a tangent vector w
  /// along a change dy of the positions y: ẇ = -Gᵀ (G Gᵀ)⁻¹ r with r_k = wᵀ ∇²g_k dy. G(y) is the matrix of the
  /// gradients of the constraints g_k. ẇ satisfies G ẇ + Ġ w = 0, where Ġ is the derivative of G along dy.
  void add_normal_derivative(const Field& w, const Field& dy, Field& out) const;
  /// Replaces the positions x by x + G(y)ᵀ λ, where G is the matrix of the gradients of the constraints and λ is such
  /// that the result satisfies the constraints. Returns false on all ranks, without a change of x, if Newton's method
  /// finds no such λ on some rank.
  bool retract(Field& x) const;

 private:
  const ConstraintSet* set_;
  NodeVectors<double> y_;
  std::vector<double> ones_;
};

}  // namespace diffsim::body
