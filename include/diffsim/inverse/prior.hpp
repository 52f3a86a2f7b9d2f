// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Prior of one unknown: a function P of the unknown's values u, which an InverseProblem adds to the loss. If the loss
/// is the negative logarithm of a likelihood and P is the negative logarithm of a prior density, then loss + P is the
/// negative logarithm of the posterior density, up to a constant.
///
/// u contains this rank's values of the unknown as in the vector u of the InverseProblem: the coefficients of a map,
/// the densities ρ of a distribution, the changes s of a filter of shapes, ln p for a logarithmic unknown, otherwise p.
/// All functions are collective.
class Prior {
 public:
  virtual ~Prior() = default;
  /// Number of values of the unknown on this rank.
  virtual std::size_t size() const = 0;
  /// Returns the prior's value P(u) on every rank.
  virtual double value(const std::vector<double>& u) const = 0;
  /// Adds this rank's entries of the gradient ∂P/∂u to `gradient`.
  virtual void add_gradient(const std::vector<double>& u, std::vector<double>& gradient) const = 0;
  /// Adds this rank's entries of (∂²P/∂u²) v, the product of the Hessian of the prior P with v, to `product`.
  virtual void add_product(const std::vector<double>& u, const std::vector<double>& v,
                           std::vector<double>& product) const = 0;
  /// Returns true if the prior P(u) is quadratic with a positive definite Hessian; the inverse of the Hessian is then
  /// the covariance matrix of the prior.
  virtual bool has_covariance() const { return false; }
  /// Returns this rank's entries of the product of the prior's covariance matrix (∂²P/∂u²)⁻¹ with b. The relative error
  /// is about 1e-9. Throws Error (input) if `has_covariance` is false.
  virtual std::vector<double> covariance_product(const std::vector<double>& b) const;
  /// Returns this rank's entries of F z, where F Fᵀ is the covariance matrix. If the entries of z are independent
  /// samples of the standard normal distribution, F z plus the mean is a sample of the prior distribution. Throws Error
  /// (input) if `has_covariance` is false.
  virtual std::vector<double> covariance_factor_product(const std::vector<double>& z) const;
};

/// Discrete gradient D u of an unknown's values u, for priors that prefer smooth values. D is a matrix, and each row r
/// of D has a measure m_r, such that Σ_r m_r (D u)_r² approximates ∫ |∇u|² over the domain. `width()` consecutive rows
/// are the components of ∇u at one point.
class ValueGradient {
 public:
  ~ValueGradient();
  ValueGradient(ValueGradient&&) noexcept;  ///< the other object may afterwards only be destroyed

  /// Gradient of one value per cell, u [cells], for quadratic priors. At each vertex, a linear function is fitted by
  /// least squares to the values at the centroids of the adjacent cells. D has three rows per cell: the components of
  /// the gradient g of the linear function that interpolates the fitted values at the cell's vertices. The measure of
  /// these rows is the cell's volume (m³). D also has one row per face between two cells: (u₂ - u₁ - ½ (g₁ +
  /// g₂)·d)/|d|, where d is the vector from centroid 1 to centroid 2. The measure of this row is the face's area times
  /// the distance of the centroids along the face's normal. The rows of faces suppress oscillations from cell to cell.
  /// The gradients of linear fields are exact, except near vertices, such as corners, that have too few adjacent cells
  /// to determine the slopes of a fit. Collective.
  static ValueGradient of_cells(const TetrahedralMesh& mesh);
  /// Derivative of one value per cell, u [cells], across each face between two cells, for the total variation. The row
  /// of a face is Δu/d, where Δu is the difference of u between the two cells, and d is the distance between the
  /// centroids of the two cells along the face's normal. The measure of the row is A d, where A is the face's area. Σ
  /// measure |Δu/d| = Σ A |Δu| is then the total variation of the piecewise constant field. Collective.
  static ValueGradient across_faces(const TetrahedralMesh& mesh);
  /// Gradient of `components` values per vertex, u [owned vertices, components]. u is linear in each tetrahedron, or in
  /// each of eight parts of a second-order tetrahedron. Each tetrahedron or part contributes the rows of one point. The
  /// measure of these rows is the volume (m³) of the tetrahedron or part. Throws Error (input) if some vertex has no
  /// tetrahedron. Collective.
  static ValueGradient of_vertices(const TetrahedralMesh& mesh, int components);
  /// Rate of change of a parameter with `components` values per step: u [steps, components] is on the first rank of
  /// `comm` and empty on the other ranks; `dt` is the time step (s). Each pair of consecutive steps is one point, with
  /// the rows (u[n+1] - u[n])/dt and the measure dt (s). Collective.
  static ValueGradient of_steps(MPI_Comm comm, int steps, int components, double dt);

  MPI_Comm comm() const;      ///< communicator of the mesh, or `comm` of `of_steps`
  int dimension() const;      ///< dimension of the domain: 3 for meshes, 1 for time
  std::size_t size() const;   ///< number of this rank's values u
  std::size_t width() const;  ///< number of rows per point; 0 for `of_cells`, which has rows of two kinds
  const std::vector<double>& measure() const;  ///< measure of each of this rank's rows
  const std::vector<double>& lumped() const;   ///< volume (m³) or duration (s) that each local value represents
  /// Returns this rank's rows of the discrete gradient D u. Collective.
  std::vector<double> times(const std::vector<double>& u) const;
  /// Returns this rank's part of Dᵀ y, where D is the matrix of the discrete gradient. Collective.
  std::vector<double> transpose_times(const std::vector<double>& y) const;
  /// Returns this rank's part of K u, with the stiffness matrix K = Dᵀ diag(m) D of the discrete gradient D and the
  /// measures m of the rows of D. Collective.
  std::vector<double> stiffness_times(const std::vector<double>& u) const;
  /// Function of a row of D: numbers of the columns, entries, and measure of the row. Values u are numbered
  /// consecutively from rank to rank.
  using RowFunction =
      std::function<void(const std::vector<std::int64_t>& columns, const std::vector<double>& entries, double measure)>;
  /// Calls `function` for this rank's rows of D. For `of_cells`, whose D is not sparse, calls `function` for the rows
  /// of `across_faces` instead; the stiffness matrix Dᵀ diag(m) D of these rows is sparse and approximates that of
  /// `of_cells`.
  void for_each_row(const RowFunction& function) const;

 private:
  struct Implementation;
  explicit ValueGradient(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// Prior of independent normal distributions, P = ½ Σ ((u - mean)/deviation)². `mean` and `deviation` have one entry
/// for each of this rank's values u. Throws Error (input) if a mean is not finite or a deviation is not positive.
/// Collective.
std::unique_ptr<Prior> make_normal_prior(MPI_Comm comm, std::vector<double> mean, std::vector<double> deviation);
/// Prior of a normal distribution with the covariance matrix C, P = ½ (u - mean)ᵀ C⁻¹ (u - mean), for values that all
/// ranks share: u is on the first rank of `comm` and empty on the other ranks. `covariance` [values, values] and `mean`
/// are the same on all ranks. Throws Error (input) if C is not symmetric and positive definite. Collective.
std::unique_ptr<Prior> make_normal_prior_with_covariance(MPI_Comm comm, std::vector<double> mean,
                                                         const std::vector<double>& covariance);
/// Smoothness prior P = weight/2 ∫ |∇(u - mean)|². The unit of `weight` must be such that P has the unit of the loss.
/// `mean` has one entry for each of this rank's values u; if `mean` is empty on all ranks, the mean is zero. Throws
/// Error (input) if `weight` is not positive and finite, or for a `mean` that `make_matern_prior` would reject.
/// Collective.
std::unique_ptr<Prior> make_smooth_prior(ValueGradient gradient, double weight, std::vector<double> mean = {});
/// Total-variation prior P = weight ∫ √(|∇(u - mean)|² + ε²), which permits jumps of u. `epsilon`: slope ε below which
/// |∇(u - mean)| is smoothed; the unit is the unit of u per m, or per s for values per step (`of_steps`). For values of
/// cells, `gradient` must be the result of `ValueGradient::across_faces`. `mean` has the same meaning as in
/// `make_smooth_prior`. Throws Error (input) if `weight` or `epsilon` is not positive and finite, or for a `mean` that
/// `make_matern_prior` would reject. Collective.
std::unique_ptr<Prior> make_total_variation_prior(ValueGradient gradient, double weight, double epsilon,
                                                  std::vector<double> mean = {});
/// Prior of a Gaussian random field with Matérn covariance (Lindgren, Rue & Lindström 2011, α = 2): u solves the
/// equation τ (κ² - Δ)(u - mean) = white noise. Δ is the Laplace operator; τ and κ are computed from `deviation` and
/// `length`. With the lumped mass matrix M and the stiffness matrix K of `gradient`,
///
///   P = τ²/2 |M^{-½} (κ² M + K)(u - mean)|².
///
/// `length`: distance (m) or duration (s) at which the correlation has dropped to about 0.13. κ is √(8ν)/`length` with
/// ν = 2 - d/2 in d dimensions. `deviation`: standard deviation of u far from the boundary, from which τ is computed.
/// The Neumann boundary condition raises the standard deviation within about `length` of the boundary. `mean` has the
/// same meaning as in `make_smooth_prior`.
///
/// Throws Error (input) if `deviation` or `length` is not positive and finite, if the size of `mean` differs from the
/// size of u, or if a value of `mean` is not finite. Collective.
std::unique_ptr<Prior> make_matern_prior(ValueGradient gradient, std::vector<double> mean, double deviation,
                                         double length);

/// Returns the index of the corner of an L-curve (Hansen 1992), or no value if there is no corner. The corner is the
/// point of the curve log prior over log misfit at which the circle through the point and its two neighbours is the
/// smallest and the curve turns towards larger misfits (Cultrera & Callegaro 2020). For each of several factors of the
/// priors, in ascending order, `misfit` contains the loss without priors, and `prior` contains the sum of the priors
/// without the factor, at the minimum. Throws Error (input) for fewer than three points and for vectors of different
/// sizes.
std::optional<std::size_t> l_curve_corner(const std::vector<double>& misfit, const std::vector<double>& prior);

}  // namespace diffsim
