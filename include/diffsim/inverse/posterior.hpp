// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Eigenvalues and eigenvectors of the scaled Hessian of a loss L, for unknowns whose values all ranks share.
///
/// The scaled Hessian of the loss L is S = diag(s) H diag(s), where H = ∂²L/∂u² is the Hessian with respect to the
/// vector u of unknowns, and s contains a scale for each entry of u. An Unknown that is logarithmic or has a linear map
/// (`Unknown::map`) has the scale 1; for any other Unknown, the scale is the largest magnitude of the Unknown's entries
/// in u, or 1 if all entries of the Unknown are 0. The eigenvalues λ_i and the orthonormal eigenvectors q_i of the
/// scaled Hessian S satisfy S = Σ_i λ_i q_i q_iᵀ.
struct Curvature {
  std::size_t size = 0;             ///< number n of entries of the vector u of unknowns
  std::vector<double> scale;        ///< scales s of the entries of the vector u of unknowns, [n]
  std::vector<double> eigenvalues;  ///< eigenvalues λ_i of the scaled Hessian, in ascending order, [n]
  std::vector<double> directions;   ///< unit eigenvectors q_i of the scaled Hessian, one in each row, [n, n]
  /// Derivatives ∂L/∂u · (diag(s) q_i) of the loss L along the scaled eigenvectors diag(s) q_i, [n].
  std::vector<double> slopes;
  /// Estimated bound of the error of the eigenvalues; the tolerances of the solvers and rounding cause this error.
  double error = 0.0;
};

/// Computes the eigenvalues and eigenvectors of the scaled Hessian at the vector `u` of unknowns, from one product with
/// the Hessian per entry of `u`. Throws Error (input) if a part of the model does not support second derivatives, or if
/// the ranks do not share the values of an unknown. The result of `curvature` is the same on all ranks. Collective.
Curvature curvature(InverseProblem& problem, const std::vector<double>& u);

/// Threshold of the standard deviation 1/√λ_i along an eigenvector q_i of the scaled Hessian (see Curvature); above the
/// threshold, the unknowns are regarded as not identified along q_i. The threshold `largest_deviation` = 10 corresponds
/// to a standard deviation of ten times the magnitude of an unknown's values, or of a factor e¹⁰ for a logarithmic
/// unknown.
inline constexpr double largest_deviation = 10.0;

/// Returns the indices i of the eigenvectors q_i along which the unknowns are not identified: 1/√λ_i >
/// `largest_deviation`, or |λ_i| ≤ `Curvature::error`, with the eigenvalues λ_i of the scaled Hessian of the loss. The
/// loss to which the Curvature belongs must be the negative logarithm of a probability density. `unidentified` does not
/// return indices of eigenvalues below -`Curvature::error`.
std::vector<std::size_t> unidentified(const Curvature& curvature);

/// Laplace approximation of the posterior distribution: a normal distribution with the mean at a minimum of a loss L
/// and with the covariance matrix C = H⁻¹. L is the negative logarithm of the posterior density up to a constant, and H
/// is the Hessian of L at the minimum.
struct Posterior {
  /// Standard deviations √C_ii of the unknowns u with the covariance matrix C, in the units of u, [n].
  std::vector<double> deviation;
  std::vector<double> covariance;  ///< covariance matrix C of the unknowns u, [n, n]
  /// Correlation coefficients C_ij / √(C_ii C_jj) of the unknowns u with the covariance matrix C, [n, n].
  std::vector<double> correlation;
};

/// Computes the Laplace approximation of the posterior distribution from the Curvature at a minimum of the loss. Throws
/// Error (run) if an eigenvalue of the scaled Hessian is not positive.
Posterior posterior(const Curvature& curvature);

/// Low-rank form of the Laplace approximation of a posterior distribution, for many unknowns and for priors that have a
/// covariance matrix C_prior (Bui-Thanh, Ghattas, Martin & Stadler 2013, section 3; Flath et al. 2011).
///
/// The posterior covariance matrix is C ≈ C_prior - Σ_i λ_i/(1 + λ_i) v_i v_iᵀ. The values λ_i are the r largest
/// eigenvalues of the problem H v = λ C_prior⁻¹ v, where H is the Hessian of the losses without priors, and v_i are the
/// eigenvectors with v_iᵀ C_prior⁻¹ v_j = δ_ij. λ_i is the ratio of the information of the observations to the
/// information of the prior along v_i. If the term of an eigenpair (λ, v) is omitted, the variance along v is too large
/// by the factor 1 + λ.
class LowRankPosterior {
 public:
  /// Computes the r = `rank` largest eigenvalues λ of H v = λ C_prior⁻¹ v at the point `u`, or all eigenvalues if the
  /// unknowns have fewer than `rank` values. The solver is the Krylov–Schur method of SLEPc (options with the prefix
  /// `posterior_`). The number of products with H is about twice `rank`. `tolerance`: bound of the error of an
  /// eigenvalue λ, relative to 1 + |λ|. `problem` must outlive the LowRankPosterior, and the priors of `problem` must
  /// not change. Throws Error (input) if some unknown does not have exactly one prior with a covariance matrix
  /// (`InverseProblem::has_prior_covariance`), if `rank` is not positive, or if the library was built without SLEPc.
  /// Throws Error (run) if the eigenvalues do not converge, or if an eigenvalue is not above -1, because the loss then
  /// has no minimum at `u`. Collective.
  LowRankPosterior(InverseProblem& problem, const std::vector<double>& u, int rank, double tolerance = 1e-6);

  /// Returns true if the library was built with SLEPc.
  static bool is_available();
  /// Computed eigenvalues λ_i of H v = λ C_prior⁻¹ v (LowRankPosterior), in descending order, equal on all ranks.
  const std::vector<double>& eigenvalues() const { return eigenvalues_; }
  /// Returns this rank's entries of the eigenvector v_i, which belongs to the eigenvalue `eigenvalues()[i]`.
  const std::vector<double>& eigenvector(std::size_t i) const { return vectors_[i]; }
  /// Returns this rank's entries of C b for a vector b, with the approximate posterior covariance matrix C. Collective.
  std::vector<double> covariance_product(const std::vector<double>& b) const;
  /// Returns this rank's entries of F z for a vector z, where F Fᵀ = C is the approximate posterior covariance matrix.
  /// If the entries of z are independent samples of the standard normal distribution, u + F z is a sample of the
  /// approximate posterior distribution, where u is the point passed to the constructor. Collective.
  std::vector<double> covariance_factor_product(const std::vector<double>& z) const;
  /// Estimates the posterior standard deviations √C_ii of this rank's values of the unknowns u from `samples` samples
  /// of the posterior distribution. The relative standard error of the estimates is about 1/√(2 `samples`). The
  /// estimates do not depend on the number of ranks, up to the tolerances of the solvers. Throws Error (input) if
  /// `samples` is not positive. Collective.
  std::vector<double> deviation(int samples, unsigned seed = 1) const;

 private:
  InverseProblem& problem_;
  std::vector<double> eigenvalues_;
  std::vector<std::vector<double>> vectors_;     // this rank's entries of v_i
  std::vector<std::vector<double>> precisions_;  // this rank's entries of C_prior⁻¹ v_i
};

}  // namespace diffsim
