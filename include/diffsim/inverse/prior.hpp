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
/// The argument u of a prior's functions contains the unknown's values in this rank's part of the vector u of an
/// InverseProblem: the coefficients of a linear map, the densities ρ of a material distribution, the unfiltered changes
/// s of a shape, ln p for a logarithmic unknown of a parameter p, and p for any other unknown. All functions of a prior
/// are collective.
class Prior {
 public:
  virtual ~Prior() = default;
  /// Number of values of the unknown on this rank.
  virtual std::size_t size() const = 0;
  /// Returns the prior's value P(u) on every rank.
  virtual double value(const std::vector<double>& u) const = 0;
  /// Adds this rank's entries of the gradient ∂P/∂u of the prior P to `gradient`.
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
  /// Returns this rank's entries of F z, where F Fᵀ is the prior's covariance matrix. If the entries of z are
  /// independent samples of the standard normal distribution, F z plus the prior's mean is a sample of the prior
  /// distribution. Throws Error (input) if `has_covariance` is false.
  virtual std::vector<double> covariance_factor_product(const std::vector<double>& z) const;
};

/// Discrete gradient D u of an unknown's values u, for priors that prefer smooth values. D is a matrix, and each row r
/// of D has a measure m_r, a volume or a duration, such that Σ_r m_r (D u)_r² approximates ∫ |∇u|² over the domain.
/// `width()` consecutive entries of D u are the components of ∇u at one point.
class ValueGradient {
 public:
  ~ValueGradient();
  /// Move constructor; the moved-from object may afterwards only be destroyed.
  ValueGradient(ValueGradient&&) noexcept;

  /// Creates the gradient of values u [cells], one value per cell, for quadratic priors. At each corner of a cell, a
  /// linear function is fitted by least squares to the values u at the centroids of the cells that have this corner.
  /// The matrix D has three rows per cell: the components of the gradient g of the linear function that interpolates
  /// the fitted values at the cell's corners. The measure of each row is the cell's volume (m³).
  ///
  /// The matrix D also has one row per face between two cells, which gives (u₂ - u₁ - ½ (g₁ + g₂)·d)/|d|. Here, u₁ and
  /// u₂ are the values and g₁ and g₂ the gradients in the two cells, and d is the vector from the centroid of cell 1 to
  /// the centroid of cell 2. The measure of the row is the face's area times the distance of the centroids along the
  /// face's normal. The rows of faces suppress oscillations of u from cell to cell.
  ///
  /// The discrete gradients of linear fields are exact, except near vertices, such as corners, that have too few
  /// adjacent cells to determine the slopes of a fit. Collective.
  static ValueGradient of_cells(const TetrahedralMesh& mesh);
  /// Creates the derivative of values u [cells], one value per cell, across each face between two cells, for
  /// total-variation priors. The discrete gradient has one entry Δu/d per face, with the measure A d. Here, Δu is the
  /// jump of u across the face, A is the face's area, and d is the distance, along the face's normal, between the
  /// centroids of the adjacent cells. The sum Σ A d |Δu/d| = Σ A |Δu| over all faces is the total variation of the
  /// piecewise constant field u. Collective.
  static ValueGradient across_faces(const TetrahedralMesh& mesh);
  /// Creates the gradient of values u [owned vertices, components] on the vertices. The function u is linear in each
  /// tetrahedron of a first-order mesh, or in each of the eight tetrahedra into which a second-order tetrahedron is
  /// divided. Each tetrahedron in which u is linear contributes 3 · `components` rows to the matrix of the discrete
  /// gradient; the measure of these rows is the tetrahedron's volume (m³). Throws Error (input) if some vertex belongs
  /// to no tetrahedron. Collective.
  static ValueGradient of_vertices(const TetrahedralMesh& mesh, int components);
  /// Creates the rate of change of a parameter with `components` values per time step. The array u [steps, components]
  /// of the values is on the first rank of `comm` and empty on the other ranks; `dt` is the time step (s). Each pair of
  /// consecutive steps n and n + 1 contributes the `components` entries (u[n+1] - u[n])/dt, with the measure dt (s), to
  /// the discrete gradient. Collective.
  static ValueGradient of_steps(MPI_Comm comm, int steps, int components, double dt);

  MPI_Comm comm() const;     ///< communicator of the mesh, or the argument `comm` of `of_steps`
  int dimension() const;     ///< dimension of the domain: 3 for meshes, 1 for time
  std::size_t size() const;  ///< number of the unknown's values on this rank
  /// Number of entries of the discrete gradient per point of the domain; 0 for `of_cells`, which has entries per cell
  /// and per face.
  std::size_t width() const;
  const std::vector<double>& measure() const;  ///< measure (m³ or s) of each entry of this rank's discrete gradient
  /// Volume (m³) or duration (s) that each of the unknown's values on this rank represents.
  const std::vector<double>& lumped() const;
  /// Returns this rank's entries of the discrete gradient D u. Collective.
  std::vector<double> times(const std::vector<double>& u) const;
  /// Returns this rank's part of Dᵀ y, where D is the matrix of the discrete gradient. Collective.
  std::vector<double> transpose_times(const std::vector<double>& y) const;
  /// Returns this rank's part of K u, with the stiffness matrix K = Dᵀ diag(m) D of the matrix D of the discrete
  /// gradient and the measures m of the rows of D. Collective.
  std::vector<double> stiffness_times(const std::vector<double>& u) const;
  /// Callback for one row of the matrix D of the discrete gradient: column indices and values of the row's nonzero
  /// entries, and the measure of the row. The columns, like the values u, are numbered consecutively from rank to rank.
  using RowFunction =
      std::function<void(const std::vector<std::int64_t>& columns, const std::vector<double>& entries, double measure)>;
  /// Calls `function` for each of this rank's rows of the matrix D of the discrete gradient. For a ValueGradient of
  /// `of_cells`, whose matrix D is not sparse, `function` receives the rows of `across_faces`, whose stiffness matrix
  /// is sparse and approximates that of `of_cells`.
  void for_each_row(const RowFunction& function) const;

 private:
  struct Implementation;
  explicit ValueGradient(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// Creates the prior of independent normal distributions of the values u, P = ½ Σ ((u - mean)/deviation)². `mean` and
/// `deviation` have one entry for each of this rank's values u. Throws Error (input) if a mean is not finite or a
/// deviation is not positive and finite. Collective.
std::unique_ptr<Prior> make_normal_prior(MPI_Comm comm, std::vector<double> mean, std::vector<double> deviation);
/// Creates the prior of a normal distribution with the covariance matrix C, P = ½ (u - mean)ᵀ C⁻¹ (u - mean), for
/// values that all ranks share: u is on the first rank of `comm` and empty on the other ranks. The arguments
/// `covariance` [values, values] and `mean` are the same on all ranks. Throws Error (input) if `covariance` is not
/// symmetric and positive definite, or if a mean is not finite. Collective.
std::unique_ptr<Prior> make_normal_prior_with_covariance(MPI_Comm comm, std::vector<double> mean,
                                                         const std::vector<double>& covariance);
/// Creates the smoothness prior P = weight/2 ∫ |∇(u - mean)|² of the values u. The unit of `weight` must be such that
/// the prior has the unit of the loss. `mean` has one entry for each of this rank's values u; if `mean` is empty on all
/// ranks, the mean is zero. Throws Error (input) if `weight` is not positive and finite, if the size of `mean` differs
/// from `gradient.size()`, or if a value of `mean` is not finite. Collective.
std::unique_ptr<Prior> make_smooth_prior(ValueGradient gradient, double weight, std::vector<double> mean = {});
/// Creates the total-variation prior P = weight ∫ √(|∇(u - mean)|² + ε²) with ε = `epsilon`, which permits jumps of the
/// values u. `epsilon`: slope |∇(u - mean)| below which the prior is almost quadratic, in the unit of u per m, or per s
/// for values per step (`of_steps`). For values of cells, `gradient` must be the result of
/// `ValueGradient::across_faces`. `mean` has one entry for each of this rank's values u; if `mean` is empty on all
/// ranks, the mean is zero. Throws Error (input) if `weight` or `epsilon` is not positive and finite, if the size of
/// `mean` differs from `gradient.size()`, or if a value of `mean` is not finite. Collective.
std::unique_ptr<Prior> make_total_variation_prior(ValueGradient gradient, double weight, double epsilon,
                                                  std::vector<double> mean = {});
/// Creates the prior of a Gaussian random field with Matérn covariance (Lindgren, Rue & Lindström 2011, α = 2): u
/// solves the equation τ (κ² - Δ)(u - mean) = white noise, where Δ is the Laplace operator. The discretised prior is P
/// = τ²/2 |M^{-½} (κ² M + K)(u - mean)|², with the lumped mass matrix M and the stiffness matrix K of `gradient`.
///
/// `length`: distance (m) or duration (s) at which the correlation of u is about 0.13; κ = √(8ν)/`length` with ν = 2 -
/// d/2 in d dimensions. `deviation`: standard deviation of u far from the boundary, from which τ is computed. The
/// Neumann boundary condition raises the standard deviation within about `length` of the boundary. `mean` has one entry
/// for each of this rank's values u; if `mean` is empty on all ranks, the mean is zero.
///
/// Throws Error (input) if `deviation` or `length` is not positive and finite, if the size of `mean` differs from
/// `gradient.size()`, or if a value of `mean` is not finite. Collective.
std::unique_ptr<Prior> make_matern_prior(ValueGradient gradient, std::vector<double> mean, double deviation,
                                         double length);

/// Returns the index of the corner of an L-curve (Hansen 1992), or no value if there is no corner. The corner is one of
/// the points at which the curve of log prior over log misfit turns towards larger misfits: the point for which the
/// circle through the point and its two neighbours has the smallest radius (Cultrera & Callegaro 2020). `misfit` and
/// `prior` have one entry for each of several factors of the priors, in ascending order of the factors. At the minimum
/// of the loss with the priors multiplied by a factor, `misfit` is the loss without priors, and `prior` is the sum of
/// the priors without the factor. Throws Error (input) if `misfit` and `prior` have fewer than three entries or
/// different sizes.
std::optional<std::size_t> l_curve_corner(const std::vector<double>& misfit, const std::vector<double>& prior);

}  // namespace diffsim
