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
  std::vector<double> scale;        ///< scales s of the values of u, [n]
  std::vector<double> eigenvalues;  ///< λ_i, ascending, [n]
  std::vector<double> directions;   ///< unit vectors q_i, [n, n], one in each row
  std::vector<double> slopes;       ///< derivative of L along each direction diag(s) q_i, [n]
  /// Estimated bound of the eigenvalues' error, caused by the tolerances of the solvers and by rounding.
  double error = 0.0;
};

/// Computes the curvature at u from one product with the Hessian per value of u. Throws Error (input) if a part of the
/// model has no second derivatives, or if the ranks do not share the values of an unknown. Collective; the result is
/// the same on all ranks.
Curvature curvature(InverseProblem& problem, const std::vector<double>& u);

/// Standard deviation along a direction q_i, in units of the scales s (see Curvature), above which the unknowns are
/// regarded as not identified along the direction: ten times the magnitude of the values, or a factor of e¹⁰ for the
/// values of a logarithmic unknown.
inline constexpr double largest_deviation = 10.0;

/// Returns the indices i of the directions q_i along which the unknowns are not identified: 1/√λ_i >
/// `largest_deviation`, or |λ_i| ≤ `Curvature::error`, with the eigenvalues λ_i of the curvature of a loss L. L must be
/// the negative logarithm of a probability density. Directions with λ_i < -`Curvature::error` are not included.
std::vector<std::size_t> unidentified(const Curvature& curvature);

/// Laplace approximation of the posterior distribution: a normal distribution around a minimum of L with the covariance
/// C = H⁻¹. L is the negative logarithm of the posterior density up to a constant, and H is the Hessian of L at the
/// minimum.
struct Posterior {
  std::vector<double> deviation;    ///< standard deviations √C_ii, in the unit of u, [n]
  std::vector<double> covariance;   ///< covariance C, [n, n]
  std::vector<double> correlation;  ///< correlation coefficients C_ij / √(C_ii C_jj), [n, n]
};

/// Computes the Laplace approximation from the curvature at a minimum of L. Throws Error (run) if an eigenvalue is not
/// positive.
Posterior posterior(const Curvature& curvature);

/// Low-rank approximation of the Laplace approximation, for vectors u with many values and for priors that have a
/// covariance matrix C_prior (Bui-Thanh, Ghattas, Martin & Stadler 2013, section 3; Flath et al. 2011). With the
/// Hessian H of the losses, without priors, the r largest eigenvalues λ_i and the eigenvectors v_i of
///
///   H v = λ C_prior⁻¹ v,   v_iᵀ C_prior⁻¹ v_j = δ_ij
///
/// give the posterior covariance C ≈ C_prior - Σ_i λ_i/(1 + λ_i) v_i v_iᵀ. λ_i is the ratio of the information of the
/// observations to the information of the prior along v_i. If an eigenvalue λ is omitted, the variance along its
/// eigenvector is too large by the factor 1 + λ.
class LowRankPosterior {
 public:
  /// Computes the `rank` largest eigenvalues at u, or all eigenvalues if there are fewer, by the Krylov–Schur method of
  /// SLEPc (options with the prefix `posterior_`). The number of products with H is about twice `rank`. `tolerance`:
  /// bound of the error of an eigenvalue λ, relative to 1 + |λ|. `problem` must outlive this object, and its priors
  /// must not change. Throws Error (input) if some unknown does not have exactly one prior with a covariance matrix
  /// (`InverseProblem::has_prior_covariance`), if `rank` is not positive, or if the library was built without SLEPc.
  /// Throws Error (run) if the eigenvalues do not converge, or if an eigenvalue is not above -1, because u then is not
  /// a minimum. Collective.
  LowRankPosterior(InverseProblem& problem, const std::vector<double>& u, int rank, double tolerance = 1e-6);

  /// Returns true if the library was built with SLEPc.
  static bool is_available();
  /// Computed eigenvalues λ_i, descending; the same on all ranks.
  const std::vector<double>& eigenvalues() const { return eigenvalues_; }
  /// This rank's entries of the eigenvector v_i.
  const std::vector<double>& eigenvector(std::size_t i) const { return vectors_[i]; }
  /// Returns this rank's entries of C b, where C is the approximate posterior covariance. Collective.
  std::vector<double> covariance_product(const std::vector<double>& b) const;
  /// Returns this rank's entries of F z, where F Fᵀ = C is the approximate posterior covariance. If the entries of z
  /// are independent samples of the standard normal distribution, u + F z is a sample of the posterior distribution.
  /// Collective.
  std::vector<double> covariance_factor_product(const std::vector<double>& z) const;
  /// Estimates the posterior standard deviations √C_ii of this rank's values of u from `samples` samples of the
  /// posterior distribution. The relative standard error of the estimates is about 1/√(2 `samples`). The estimates do
  /// not depend on the number of ranks, up to the tolerances of the solvers. Throws Error (input) if `samples` is not
  /// positive. Collective.
  std::vector<double> deviation(int samples, unsigned seed = 1) const;

 private:
  InverseProblem& problem_;
  std::vector<double> eigenvalues_;
  std::vector<std::vector<double>> vectors_;     // this rank's entries of v_i
  std::vector<std::vector<double>> precisions_;  // this rank's entries of C_prior⁻¹ v_i
};

}  // namespace diffsim
