// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Linear filter ρ̃ = F ρ of one value per tetrahedron (Lazarov & Sigmund 2011): ρ̃ solves the equation ρ̃ - r² Δρ̃ = ρ
/// with Neumann boundary conditions, discretised by two-point fluxes across the faces of the mesh. The filter keeps the
/// integral of ρ, and the values of ρ̃ are between the least and the largest value of ρ, up to the tolerance 1e-10 of
/// the linear solver, whose PETSc options have the prefix `filter_`.
class DensityFilter {
 public:
  /// `radius` R (m): radius of the filter with a cone-shaped kernel that has about the same effect; r = R/(2 √3).
  /// Throws Error (input) if `radius` is not positive. Collective.
  DensityFilter(const TetrahedralMesh& mesh, double radius);
  ~DensityFilter();
  /// Number of values on this rank: one per tetrahedron of the rank.
  std::size_t size() const { return volumes_.size(); }
  /// Returns this rank's part of the filtered values F ρ. Collective.
  std::vector<double> times(const std::vector<double>& rho) const;
  /// Returns this rank's part of Fᵀ w. Collective.
  std::vector<double> transpose_times(const std::vector<double>& w) const;

 private:
  struct Solver;
  std::vector<double> volumes_;  // volumes of this rank's tetrahedra, divided by r²
  std::unique_ptr<Solver> solver_;
};

/// Linear filter w = F s of one vector per vertex, for changes of a shape. Each component of w solves the equation w -
/// r² Δw = s with w = 0 at fixed vertices and Neumann boundary conditions elsewhere, discretised by linear elements
/// with lumped masses. The length r is R/(2 √3), where R is the argument `radius` of the constructor. The filter makes
/// changes of a shape smooth, so that the tetrahedra keep their quality, and the motion of the surface also moves the
/// interior (Lazarov & Sigmund 2011; for shapes, Hojjat, Stavropoulou & Bletzinger 2014).
class ShapeFilter {
 public:
  /// `radius` R (m): as for DensityFilter. `fixed`: names of regions whose vertices do not move. `moves`: false for
  /// components of w that are zero at all vertices. Throws Error (input) if `radius` is not positive, for an unknown
  /// region, if no component moves, and if a vertex has no tetrahedron. Collective.
  ShapeFilter(const TetrahedralMesh& mesh, double radius, const std::vector<std::string>& fixed = {},
              std::array<bool, 3> moves = {true, true, true});
  ~ShapeFilter();
  double radius() const { return radius_; }  ///< R, m
  /// Number of this rank's values, three per owned vertex.
  std::size_t size() const { return 3 * masses_.size(); }
  /// Returns this rank's part of the filtered vectors F s, [owned vertices, 3]. Collective.
  std::vector<double> times(const std::vector<double>& s) const;
  /// Returns this rank's part of Fᵀ w. Collective.
  std::vector<double> transpose_times(const std::vector<double>& w) const;

 private:
  struct Solver;
  double radius_;
  std::vector<double> masses_;  // lumped volume of each owned vertex, divided by r²; 0 for fixed vertices
  std::array<bool, 3> moves_;
  std::unique_ptr<Solver> solver_;
};

/// Further parameter p = p0 (ε + (1 - ε) ρ̃^penalty) of a MaterialDistribution, with the same densities ρ̃.
struct DistributedParameter {
  std::string parameter = {};  ///< name of another parameter of the Model, with one number per tetrahedron
  double penalty = 1.0;        ///< at least 1
  double minimum = 1e-3;       ///< ε, in (0, 1)
};

/// Density-based design (SIMP, Bendsøe & Sigmund 1999). The unknowns are the densities ρ of the tetrahedra, from 0
/// (void) to 1 (material). The parameter is
///   p = p0 (ε + (1 - ε) ρ̃^penalty),
/// where p0 are the Model's values when the InverseProblem is constructed, and ρ̃ are the filtered densities.
struct MaterialDistribution {
  double penalty = 3.0;                                   ///< at least 1
  double minimum = 1e-3;                                  ///< ε, in (0, 1): property of void relative to the material
  std::shared_ptr<const DensityFilter> filter = nullptr;  ///< nullptr: ρ̃ = ρ
  /// Prescribed densities in [0, 1] of this rank's tetrahedra, and NaN for the tetrahedra whose densities are unknown
  /// (`prescribed_densities`). If the vector is empty, all densities are unknown. In a tetrahedron with a prescribed
  /// density d, the start value and both bounds of ρ are d. The filter is applied to d, and afterwards ρ̃ is replaced by
  /// d in this tetrahedron, so that p = p0 for d = 1, and p = ε p0 for d = 0. The derivatives with respect to ρ in
  /// these tetrahedra are zero.
  std::vector<double> prescribed = {};
  std::vector<DistributedParameter> also = {};  ///< further parameters that depend on the same densities
};

/// Returns the vector `MaterialDistribution::prescribed` with the density 1 in the regions `solid` and the density 0 in
/// the regions `voids`. Throws Error (input) for an unknown region, for a region without tetrahedra, and for a
/// tetrahedron that is both in a region of `solid` and in a region of `voids`. Collective.
std::vector<double> prescribed_densities(const TetrahedralMesh& mesh, const std::vector<std::string>& solid,
                                         const std::vector<std::string>& voids);

/// Parameter to be identified, and the values that represent the parameter in the vector u of unknowns.
///
/// The Model's parameter has one entry per cell, vertex or step. The unknown may have one value per entry, one value
/// for all entries, or one value per group of entries (region): p_e = u_group(e). The names `initial_positions` and
/// `initial_velocities` denote the fields of the initial state x[0].
struct Unknown {
  std::string parameter = {};  ///< name of the Model's parameter
  std::string label = {};      ///< name in files and messages; if empty, `parameter` is used
  /// Index in `group_names` of the group to which each of this rank's entries belongs, [entries]. An entry with the
  /// index -1 is not an unknown and keeps its value. If the vector is empty, every entry is a separate unknown.
  std::vector<int> group = {};
  /// Names of the groups, the same on every rank; a single empty name if all grouped entries share one value.
  std::vector<std::string> group_names = {};
  /// Lower bound of p (also if `logarithmic` is true), of the coefficients of a map, of densities, or of the changes s.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();  ///< upper bound of the values that `lower` bounds
  bool logarithmic = false;  ///< true: the unknown is the logarithm ln p of the parameter p
  /// Linear map from few values u, shared by all ranks, to many entries: p = p0 + B u, or ln p = ln p0 + B u for a
  /// logarithmic unknown. p0 are the Model's values when the InverseProblem is constructed. `map` contains this rank's
  /// rows of the matrix B, [entries · components, values of u]. `lower`, `upper` and `start` are values of u; an empty
  /// `start` means u = 0. A map cannot be combined with groups.
  std::vector<double> map = {};
  int map_numbers = 0;  ///< number of columns of B; 0 if there is no map
  /// Distribution of a material, instead of values of the parameter: the unknowns are densities. A distribution cannot
  /// be combined with groups, a map or a logarithm.
  std::optional<MaterialDistribution> distribution = {};
  /// Filtered change of a field of vertices, such as `rest_positions`, instead of values of the parameter: the unknowns
  /// are vectors s, [owned vertices, 3], and p = p0 + F s, where p0 are the Model's values when the InverseProblem is
  /// constructed. `lower`, `upper` and `start` are values of s; an empty `start` means s = 0. A filter cannot be
  /// combined with groups, a map or a logarithm.
  std::shared_ptr<const ShapeFilter> shape_filter = nullptr;
  /// Name of a field of the initial state x[0] that changes with the unknown: the field equals p + d, where p is the
  /// unknown and d is constant. If the name is empty, no field changes with p. Allowed names are those of the fields of
  /// x[0] that have the owned entries and the components of the unknown's parameter: for `rest_positions` in a
  /// DifferentiableScene, the name is "positions". The member is a name, because each Model defines the fields of its
  /// states. Must be empty for a distribution. The constructor of InverseProblem throws Error if x[0] has no field with
  /// the name.
  std::string carries = {};
  /// Start values of the unknown: [unknowns, components], or one value for all. If `start` is empty, the start values
  /// are the Model's values (for a group, the mean of the group's values), or 1 for a distribution, or 0 for a map or a
  /// filter of shapes.
  std::vector<double> start = {};

  /// Names of the parameters that the unknown sets: `parameter`, followed by those in `MaterialDistribution::also`.
  std::vector<std::string> parameters() const;
  /// Returns true if all ranks share the values of the unknown.
  bool shared() const { return map_numbers > 0 || !group_names.empty(); }
  const std::string& name() const { return label.empty() ? parameter : label; }  ///< name in files and messages
};

}  // namespace diffsim
