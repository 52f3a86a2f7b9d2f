// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Prior of one unknown: a function P of the unknown's values u, which an InverseProblem adds to the loss. If the loss
/// is the negative logarithm of a likelihood and P that of a density, the sum is the negative logarithm of the
/// posterior density, up to a constant.
///
/// u is this rank's part of the unknown's values in the optimiser's vector: ln p if p is searched in the logarithm. All
/// functions are collective.
class Prior {
 public:
  virtual ~Prior() = default;
  /// Number of this rank's values u.
  virtual std::size_t size() const = 0;
  /// Returns P(u) on every rank.
  virtual double value(const std::vector<double>& u) const = 0;
  /// Adds ∂P/∂u to this rank's part `gradient`.
  virtual void add_gradient(const std::vector<double>& u, std::vector<double>& gradient) const = 0;
  /// Adds (∂²P/∂u²) v to this rank's part `product`.
  virtual void add_product(const std::vector<double>& u, const std::vector<double>& v,
                           std::vector<double>& product) const = 0;
};

/// Gradient ∇u of an unknown's values u, for priors that prefer smooth values: a linear map D from u to rows with a
/// measure each, so that Σ_rows measure (D u)² approximates ∫ |∇u|² over the domain. `width` consecutive rows are the
/// components of ∇u at one point.
class ValueGradient {
 public:
  ~ValueGradient();
  ValueGradient(ValueGradient&&) noexcept;

  /// Gradient of one value per tetrahedron, u [cells], for priors that are quadratic. At each vertex a linear function
  /// is fitted to the values of the vertex's cells, at their centroids, by least squares. Three rows are the gradient
  /// of the linear interpolation of the fits within a cell; their measure is the cell's volume, m³. Another row for
  /// each face between two cells is the difference of the values, less the difference that the gradients explain, over
  /// the distance of the centroids; it suppresses oscillations from cell to cell. Linear fields have exact gradients,
  /// except next to vertices, such as corners, with too few cells to determine the slopes of a fit. Collective.
  static ValueGradient of_cells(const TetrahedralMesh& mesh);
  /// Derivative of one value per tetrahedron across each face between two cells, for the total variation: a row is
  /// Δu/d, with the distance d of the centroids along the normal, and has the measure A d, with the face's area A. So
  /// Σ measure |Δu/d| = Σ A |Δu| is the total variation of the piecewise constant field. Collective.
  static ValueGradient across_faces(const TetrahedralMesh& mesh);
  /// Gradient of `components` values per vertex, u [owned vertices, components]. A point is a tetrahedron, or one of
  /// the eight parts of a second-order tetrahedron, in which u is linear. The measure is the volume, m³. Throws Error
  /// (input) if some vertex has no tetrahedron. Collective.
  static ValueGradient of_vertices(const TetrahedralMesh& mesh, int components);
  /// Rate of change of a signal with `components` values per step, u [steps, components] on the first rank of `comm`
  /// and empty on the other ranks. A point is the time between two steps. dt: s. Collective.
  static ValueGradient of_steps(MPI_Comm comm, int steps, int components, double dt);

  MPI_Comm comm() const;
  int dimension() const;                       ///< of the domain
  std::size_t size() const;                    ///< number of this rank's values u
  std::size_t width() const;                   ///< number of rows of a point; 0 for `of_cells`, with rows of two kinds
  const std::vector<double>& measure() const;  ///< of this rank's rows
  const std::vector<double>& lumped() const;   ///< part of the domain that each of this rank's values represents
  /// Returns this rank's rows of D u. Collective.
  std::vector<double> times(const std::vector<double>& u) const;
  /// Returns this rank's part of Dᵀ y. Collective.
  std::vector<double> transpose_times(const std::vector<double>& y) const;
  /// Returns this rank's part of K u, the derivative of ½ ∫ |∇u|². Collective.
  std::vector<double> stiffness_times(const std::vector<double>& u) const;

 private:
  struct Implementation;
  explicit ValueGradient(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// Independent normal distributions, P = ½ Σ ((u - mean)/deviation)². `mean` and `deviation` are this rank's parts, of
/// the size of u. Throws Error (input) if a deviation is not positive. Collective.
std::unique_ptr<Prior> make_normal_prior(MPI_Comm comm, std::vector<double> mean, std::vector<double> deviation);
/// Normal distribution with a covariance matrix C, P = ½ (u - mean)ᵀ C⁻¹ (u - mean), of values that all ranks share: u
/// is on the first rank of `comm` and empty on the other ranks. `covariance` [values, values] and `mean` are the same
/// on all ranks. Throws Error (input) if C is not symmetric and positive definite. Collective.
std::unique_ptr<Prior> make_normal_prior_with_covariance(MPI_Comm comm, std::vector<double> mean,
                                                         const std::vector<double>& covariance);
/// P = weight/2 ∫ |∇(u - mean)|², with the unit of `weight` that makes P have the unit of the loss. `mean`: this rank's
/// part, of the size of u; empty for zeros.
std::unique_ptr<Prior> make_smooth_prior(ValueGradient gradient, double weight, std::vector<double> mean = {});
/// Total variation, P = weight ∫ √(|∇(u - mean)|² + ε²), which permits jumps of u. `epsilon`: ε, the slope below which
/// the total variation is rounded off, unit of u per m or s. `gradient`: `across_faces` for values of cells. `mean`: as
/// for `make_smooth_prior`.
std::unique_ptr<Prior> make_total_variation_prior(ValueGradient gradient, double weight, double epsilon,
                                                  std::vector<double> mean = {});
/// Gaussian random field with the Matérn covariance of Lindgren, Rue & Lindström 2011 with α = 2: the precision is that
/// of the equation τ (κ² - Δ)(u - mean) = white noise, discretised with lumped masses M and the stiffness matrix K of
/// the gradient,
///
///   P = τ²/2 |M^{-½} (κ² M + K)(u - mean)|².
///
/// `length`: distance, m or s, at which the correlation has dropped to about 0.13; κ = √(8ν)/length, ν = 2 - d/2 for d
/// dimensions. `deviation`: standard deviation of u far from the boundary; the Neumann boundary condition raises the
/// standard deviation within about `length` of the boundary. `mean`: this rank's part, of the size of u.
///
/// These functions throw Error (input) if a weight, a deviation or a length is not positive and finite, or if `mean`
/// has another size than u or a value that is not finite. Collective.
std::unique_ptr<Prior> make_matern_prior(ValueGradient gradient, std::vector<double> mean, double deviation,
                                         double length);

}  // namespace diffsim
