// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "contact/contact_term.hpp"
#include "contact/parameters.hpp"
#include "contact/surface.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Obstacle of triangles that moves rigidly, at a constant velocity. A TriangleObstacle rotates, at a constant rate, if
/// the member `axis` is not zero.
struct TriangleObstacle {
  std::string label;
  TriangleMesh mesh;
  /// True if the obstacle's surface is closed and bodies must be outside; false if the obstacle is a sheet, which
  /// bodies may touch on both sides.
  bool solid = false;
  std::array<double, 3> axis = {};  ///< rotation axis of the obstacle, of any length; a zero vector means no rotation
  /// Point (m), in the reference configuration, on the rotation axis, which moves with the obstacle.
  std::array<double, 3> origin = {};
};

/// Contact law of some pairs of surface groups. A surface group is a region of the mesh's surface, a body or an
/// obstacle. Surface groups are numbered in this order: the regions in the order of `SurfaceContactOptions::regions`,
/// the bodies of the mesh, the obstacles.
struct GroupLaw {
  /// Unordered pairs of surface groups; {g, g} means contact of group g with itself.
  std::vector<std::array<std::size_t, 2>> pairs;
  ContactLawNames parameters;
};

struct SurfaceContactOptions {
  /// True if contact of each body with itself is included. Contact between different bodies does not depend on the
  /// option `self`.
  bool self = true;
  std::vector<TriangleObstacle> obstacles = {};
  /// Indices, in the mesh's list of bodies, of the prescribed bodies, whose vertices all have prescribed positions.
  /// Contact of a prescribed body with itself, with other prescribed bodies and with the obstacles is ignored.
  std::vector<std::size_t> prescribed_bodies = {};
  std::vector<std::string> regions = {};  ///< names of regions that form surface groups (contact/surface_groups.hpp)
  ContactLawNames shared = shared_law_names();  ///< contact law of all pairs of surface groups that `laws` omits
  /// Contact laws of some pairs of surface groups; all other pairs of groups have the shared contact law.
  std::vector<GroupLaw> laws = {};
  std::vector<std::array<std::size_t, 2>> ignored = {};  ///< pairs of surface groups whose contact is ignored
  ContactForces forces = ContactForces::barrier;
  /// Maximum number of candidate pairs of each kind (point–triangle and edge–edge) on a rank. 2²⁸ pairs take 2 GiB.
  std::int64_t max_pairs = std::int64_t{1} << 28;
};

/// Contact of a mesh's surface with itself and with obstacles of triangles, by point–triangle and edge–edge pairs
/// (contact/pair_force.hpp). The two primitives of a pair may be on different ranks (docs/contact.md). A second-order
/// face is represented by four flat triangles. The segments of a body form edge–edge pairs with other edges, and the
/// ends of these segments form pairs with triangles and segments. The points of a body of points form pairs with
/// triangles, segments and points.
///
/// Each point, triangle and edge of a surface belongs to a group: a region of the surface, a body of the mesh, or an
/// obstacle. A pair of surface groups has either a separate contact law or the shared contact law of all pairs without
/// a separate law. A pair exerts a force if its distance is less than ξ + d̂, with the thickness ξ and the barrier
/// distance d̂ of the pair's contact law. The two surface groups of each pair in `SurfaceContactOptions::ignored` pass
/// through each other.
///
/// The parameters of an obstacle with the name LABEL are the displacement at t = 0 (m), `obstacle_position:LABEL` [3],
/// the velocity (m/s), `obstacle_velocity:LABEL` [3], and, if the obstacle rotates, the angular velocity (rad/s),
/// `obstacle_angular_velocity:LABEL` [1].
///
/// The Jacobian is a separate matrix, because its sparsity pattern varies (`couplings_vary`). The sparsity pattern of
/// the Jacobian covers the pairs at a distance of less than ξ + 2 d̂, or ξ + d̂ in a term of friction alone, with the
/// thickness ξ and the barrier distance d̂ of the pair's contact law.
class SurfaceContact : public ContactTerm {
 public:
  /// Throws Error (input) if a triangle of the mesh's surface has vertices of two bodies, if a region contains no face
  /// of the mesh's surface, or if two regions have a common face. Collective.
  SurfaceContact(std::shared_ptr<const TetrahedralMesh> mesh, SurfaceContactOptions options);
  ~SurfaceContact() override;

  std::string name() const override { return "contact of surfaces"; }
  bool uses_velocities() const override { return has_friction(); }
  void prepare(const ParameterSet& parameters) override;
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override;

  double energy(const Configuration& at, const ParameterSet& parameters) override;
  double dissipation(const Configuration& at, const ParameterSet& parameters) override;
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override;
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override;
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override;
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override;
  void add_couplings(const Configuration& at, Couplings& couplings) override;
  bool couplings_vary() const override { return true; }
  bool pattern_covers(const Configuration& at) override;
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override;
  bool moves(int n, const ParameterSet& parameters) const override;
  double max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) override;
  std::string limiting() const override;
  ContactState state(const Configuration& at, const ParameterSet& parameters) override;
  std::string intersecting() const override;
  void add_forces_between(const Configuration& at, const ParameterSet& parameters, ForcesBetween& sums) override;
  std::string enclosed(const Configuration& at, const ParameterSet& parameters) override;
  int rebuilds() const;  ///< number of times that the lists of candidate pairs were built

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
