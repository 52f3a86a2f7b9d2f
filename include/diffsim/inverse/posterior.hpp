// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Eigenvalues and eigenvectors of the scaled Hessian of a loss L, for unknowns whose values all ranks share.
///
/// Each value of u has a scale s. The scale is 1 for values of a logarithmic unknown and for coefficients of a map. For
/// all other values, the scale is the largest magnitude of the unknown's values, or 1 if all values are 0. The scaled
/// Hessian is S = diag(s) H diag(s), with H = ∂²L/∂u², and S = Σ_i λ_i q_i q_iᵀ.
struct Curvature {
  std::size_t size = 0;             ///< number n of values of u
  std::vector<double> scale;        ///< s, [n]
  std::vector<double> eigenvalues;  ///< λ_i, ascending, [n]
  std::vector<double> directions;   ///< unit vectors q_i, [n, n], one in each row
  std::vector<double> slopes;       ///< derivative of L along each diag(s) q_i, [n]
  /// Estimated bound of the eigenvalues' error, caused by the tolerances of the solvers and by rounding.
  double error = 0.0;
};

/// Computes the curvature at u from one product with the Hessian per value of u. Throws Error (input) if a part of the
/// model has no second derivatives, or if the ranks do not share the values of an unknown. Collective; the result is
/// the same on all ranks.
Curvature curvature(InverseProblem& problem, const std::vector<double>& u);

/// Scaled standard deviation above which a direction counts as not identified: ten times the magnitude of the values,
/// or a factor of e¹⁰ for the values of a logarithmic unknown.
inline constexpr double largest_deviation = 10.0;

/// Returns the indices i of the directions q_i along which the unknowns are not identified: 1/√λ_i >
/// `largest_deviation`, or |λ_i| ≤ `Curvature::error`. L must be the negative logarithm of a probability density.
/// Directions with λ_i < -`Curvature::error` are not included.
std::vector<std::size_t> unidentified(const Curvature& curvature);

/// Laplace approximation of the posterior distribution: a normal distribution around a minimum of L with the covariance
/// C = H⁻¹. L is the negative logarithm of the posterior density up to a constant, and H is the Hessian of L at the
/// minimum.
struct Posterior {
  std::vector<double> deviation;    ///< √C_ii, in the unit of u, [n]
  std::vector<double> covariance;   ///< C, [n, n]
  std::vector<double> correlation;  ///< C_ij / √(C_ii C_jj), [n, n]
};

/// Computes the Laplace approximation from the curvature at a minimum of L. Throws Error (run) if an eigenvalue is not
/// positive.
Posterior posterior(const Curvature& curvature);

}  // namespace diffsim
