// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

class EntryMap;

/// Linear filter of densities ρ, one density per tetrahedron (Lazarov & Sigmund 2011). The filtered densities ρ̃ = F ρ
/// solve the equation ρ̃ - r² Δρ̃ = ρ with a length r and Neumann boundary conditions, discretised by two-point fluxes
/// across faces. The density filter keeps the integral of the densities, and the filtered densities are between the
/// least and the largest density, up to the tolerance 1e-10 of the linear solver. The solver's PETSc options have the
/// prefix `filter_`.
class DensityFilter {
 public:
  /// `radius` R (m): radius of a cone-shaped filter kernel that has about the same effect as the equation ρ̃ - r² Δρ̃ =
  /// ρ with r = R/(2 √3). Throws Error (input) if `radius` is not positive. Collective.
  DensityFilter(const TetrahedralMesh& mesh, double radius);
  ~DensityFilter();
  /// Number of densities on this rank: one per tetrahedron of the rank.
  std::size_t size() const { return volumes_.size(); }
  /// Returns this rank's part of the result F ρ of the density filter F for densities ρ. Collective.
  std::vector<double> times(const std::vector<double>& rho) const;
  /// Returns this rank's part of Fᵀ w for a vector w, where F is the matrix of the density filter. Collective.
  std::vector<double> transpose_times(const std::vector<double>& w) const;

 private:
  struct Solver;
  std::vector<double> volumes_;  // volumes of this rank's tetrahedra, divided by r²
  std::unique_ptr<Solver> solver_;
};

/// Linear filter of a change s of a shape, one vector per vertex. Each component of the filtered change w = F s of a
/// shape solves the equation w - r² Δw = s, where s is the unfiltered change and r is a length. The boundary conditions
/// are w = 0 at fixed vertices, and Neumann conditions elsewhere. The equation is discretised by linear elements with
/// lumped masses. The shape filter makes changes of a shape smooth, so that a motion of the surface moves the interior
/// and the tetrahedra keep their quality (Lazarov & Sigmund 2011; for shapes, Hojjat, Stavropoulou & Bletzinger 2014).
class ShapeFilter {
 public:
  /// `radius` R (m): radius of a cone-shaped filter kernel that has about the same effect as the equation w - r² Δw = s
  /// with r = R/(2 √3). `fixed`: names of regions whose vertices do not move. `moves`: for each of the three components
  /// of the filtered change, false to set the component to zero at all vertices. Throws Error (input) if `radius` is
  /// not positive, for an unknown region, if all entries of `moves` are false, and if a vertex belongs to no
  /// tetrahedron. Collective.
  ShapeFilter(const TetrahedralMesh& mesh, double radius, const std::vector<std::string>& fixed = {},
              std::array<bool, 3> moves = {true, true, true});
  ~ShapeFilter();
  double radius() const { return radius_; }  ///< R, m
  /// Number of this rank's entries of a change of the mesh's shape: three per owned vertex.
  std::size_t size() const { return 3 * masses_.size(); }
  /// Returns this rank's part, [owned vertices, 3], of the result F s of the shape filter F for a change s. Collective.
  std::vector<double> times(const std::vector<double>& s) const;
  /// Returns this rank's part of Fᵀ w for a vector w, where F is the matrix of the shape filter. Collective.
  std::vector<double> transpose_times(const std::vector<double>& w) const;

 private:
  struct Solver;
  double radius_;
  std::vector<double> masses_;  // lumped volume of each owned vertex, divided by r²; 0 for fixed vertices
  std::array<bool, 3> moves_;
  std::unique_ptr<Solver> solver_;
};

/// Parameter p of the Model, in addition to `Unknown::parameter`, that depends on the densities of a
/// MaterialDistribution: p = p0 (ε + (1 - ε) ρ̃^penalty). Here, p0 are the Model's values of p when the InverseProblem
/// is constructed, ρ̃ are the filtered densities, and ε is the member `minimum`.
struct DistributedParameter {
  /// Name of the Model's parameter; the parameter must have one value per tetrahedron.
  std::string parameter = {};
  double penalty = 1.0;   ///< exponent of the filtered densities ρ̃ in the formula of the parameter; at least 1
  double minimum = 1e-3;  ///< ε, in (0, 1)
};

/// Density-based design of the distribution of a material (SIMP, Bendsøe & Sigmund 1999). The unknowns are the
/// densities ρ of the tetrahedra, from 0 (void) to 1 (material). The parameter `Unknown::parameter` of the Model is p =
/// p0 (ε + (1 - ε) ρ̃^penalty), where p0 are the values of the parameter when the InverseProblem is constructed, ρ̃ are
/// the filtered densities, and ε is the member `minimum`.
struct MaterialDistribution {
  double penalty = 3.0;   ///< exponent of the filtered densities ρ̃ in the formula of the parameter; at least 1
  double minimum = 1e-3;  ///< ε, in (0, 1): value of the parameter in void, relative to the value p0 in the material
  std::shared_ptr<const DensityFilter> filter = nullptr;  ///< filter of the densities; nullptr: no filter (ρ̃ = ρ)
  /// Prescribed densities in [0, 1] of this rank's tetrahedra, and NaN for the tetrahedra whose densities are unknowns
  /// (see `prescribed_densities`). If the vector `prescribed` is empty, the densities of all tetrahedra are unknowns.
  /// In a tetrahedron with a prescribed density d, the start value and both bounds of the density ρ are d. The density
  /// filter is applied to all densities, prescribed densities included; afterwards, the filtered density is replaced by
  /// d in the tetrahedron with the prescribed density d, so that p = p0 for d = 1, and p = ε p0 for d = 0. The
  /// derivatives of the parameter p with respect to prescribed densities are zero.
  std::vector<double> prescribed = {};
  /// Parameters, in addition to `Unknown::parameter`, that depend on the densities of the material distribution.
  std::vector<DistributedParameter> also = {};
};

/// Returns the vector `MaterialDistribution::prescribed` with the density 1 in the regions `solid`, the density 0 in
/// the regions `voids`, and NaN elsewhere. Throws Error (input) for an unknown region, for a region without tetrahedra,
/// and for a tetrahedron that is both in a region of `solid` and in a region of `voids`. Collective.
std::vector<double> prescribed_densities(const TetrahedralMesh& mesh, const std::vector<std::string>& solid,
                                         const std::vector<std::string>& voids);

/// Parameter to be identified, and the values that represent the parameter in the vector u of unknowns.
///
/// A parameter of a Model has one entry per cell, vertex or step, or a single entry for the whole model. The unknown
/// may have one value per entry of the parameter p, one value for all entries, or one value per group of entries, such
/// as a region. With groups, p_e = u_group(e) for each entry e, where u are the values of the unknown. The parameter
/// names `initial_positions` and `initial_velocities` denote the positions and velocities of the initial state x[0].
struct Unknown {
  std::string parameter = {};  ///< name of the Model's parameter that the unknown sets
  std::string label = {};      ///< name of the unknown in files and messages; if empty, the name is `parameter`
  /// Index in `group_names` of the group of each of this rank's entries of the parameter, [entries]; an entry with the
  /// index -1 keeps its value. If the vector `group` is empty, every entry of the parameter is a separate unknown.
  std::vector<int> group = {};
  /// Names of the groups, the same on every rank; a single empty name if all grouped entries share one value.
  std::vector<std::string> group_names = {};
  /// Lower bound of the parameter's values (not of their logarithms if `logarithmic` is true), or of the values u of a
  /// linear map, the densities ρ of a material distribution or the changes s of a shape filter.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();  ///< upper bound of the values whose lower bound is `lower`
  bool logarithmic = false;  ///< true: the unknown is the logarithm ln p of the parameter p
  /// Matrix B of a linear map from few values u, shared by all ranks, to the parameter p: p = p0 + B u, or ln p = ln
  /// p0 + B u for a logarithmic unknown, where p0 are the Model's values when the InverseProblem is constructed. `map`
  /// contains this rank's rows of B, [entries · components, values of u]. For an unknown with a linear map, `lower`,
  /// `upper` and `start` are values of u (an empty `start` means u = 0), and `group` must be empty.
  std::vector<double> map = {};
  int map_numbers = 0;  ///< number of columns of the matrix `map`, or of values u of `entry_map`; 0: no map
  /// Nonlinear map from `map_numbers` values u, shared by all ranks, to the parameter, in place of the matrix `map`
  /// (src/inverse/parametrisation.hpp); `start` must contain the start values of u. nullptr: no nonlinear map.
  std::shared_ptr<const EntryMap> entry_map = nullptr;
  /// Density-based distribution of a material, instead of values of the parameter: the unknowns are the densities of
  /// the tetrahedra. An unknown with a material distribution cannot have groups, a linear map or a logarithm.
  std::optional<MaterialDistribution> distribution = {};
  /// Filter F of changes of a parameter with one vector per vertex, such as `rest_positions`: the unknowns are vectors
  /// s, [owned vertices, 3], and the parameter is p = p0 + F s, where p0 are the Model's values when the InverseProblem
  /// is constructed. For an unknown with a shape filter, `lower`, `upper` and `start` are values of the unfiltered
  /// change s of the parameter; an empty `start` means s = 0. An unknown with a shape filter cannot have groups, a
  /// linear map, a material distribution or a logarithm.
  std::shared_ptr<const ShapeFilter> shape_filter = nullptr;
  /// Name of a field of the initial state x[0] that changes with the unknown: the field equals p + d, where p is the
  /// parameter and d is constant. If the name `carries` is empty, no field of the initial state changes with the
  /// unknown. The field with the name `carries` must have as many owned entries and components as the parameter; for
  /// the parameter `rest_positions` in a DifferentiableScene, `carries` is "positions". With a material distribution,
  /// `carries` must be empty. InverseProblem's constructor throws Error if the initial state has no field `carries`.
  std::string carries = {};
  /// Start values, [values, components], of the quantities whose lower bound is `lower`, or a single start value for
  /// all. If the vector `start` is empty, the start values are the Model's values of the parameter (for a group of
  /// entries, their mean), 1 for a material distribution, and 0 for a linear map or a shape filter.
  std::vector<double> start = {};

  /// Names of the parameters that the unknown sets: `parameter`, followed by the parameters in
  /// `MaterialDistribution::also`.
  std::vector<std::string> parameters() const;
  /// Returns true if all ranks share the values of the unknown.
  bool shared() const { return map_numbers > 0 || !group_names.empty(); }
  /// Name of the unknown in files and messages.
  const std::string& name() const { return label.empty() ? parameter : label; }
};

/// Returns the unknown whose values are the initial coordinates (rad or m) of revolute and prismatic joints: it sets
/// `initial_positions`. If the coordinate of a joint changes, the bodies on the side of the joint that is not connected
/// with the world move with it; if neither side is connected with the world, the side of `Joint::body` moves. Joints
/// that follow a joint move with it. `joints`: all joints of the scene (`System::joints`). `names`: names of the joints
/// whose coordinates are values of the unknown; they are also its `group_names`. `initial`: initial state.
///
/// Throws Error (input) for an unknown name, a name that occurs twice, a joint that is neither revolute nor prismatic
/// or that follows another joint, joints in closed loops, joints with an armature, bodies that are not at their rest
/// positions, and initial velocities that are not zero. An InverseProblem with this unknown has no other unknown of the
/// initial state, and no unknown points, axes and ratios of joints. Collective.
Unknown initial_coordinates(const TetrahedralMesh& mesh, const std::vector<Joint>& joints,
                            const std::vector<std::string>& names, const State& initial);
/// Returns the unknown whose values are the initial rates (rad/s or m/s) of the coordinates of joints: it sets
/// `initial_velocities`. Arguments and errors are those of `initial_coordinates`; initial velocities need not be zero.
Unknown initial_rates(const TetrahedralMesh& mesh, const std::vector<Joint>& joints,
                      const std::vector<std::string>& names, const State& initial);

}  // namespace diffsim
