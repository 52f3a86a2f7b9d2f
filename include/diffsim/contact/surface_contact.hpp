// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/contact/parameters.hpp"
#include "diffsim/contact/surface.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Triangles that move rigidly, at constant rates; they turn where there is an axis.
struct TriangleObstacle {
  std::string label;
  TriangleMesh mesh;
  bool solid = false;                 ///< closed, and the body is to be outside; else a sheet, which has two free sides
  std::array<double, 3> axis = {};    ///< of any length; zero: does not turn
  std::array<double, 3> origin = {};  ///< m, a point of the axis at t = 0, which travels with the obstacle
};

/// Law of some pairs of groups: regions of the surface are numbered as listed, the mesh's bodies after them, then
/// obstacles.
struct GroupLaw {
  std::vector<std::array<std::size_t, 2>> pairs;  ///< in any order; the same twice: a group with itself
  ContactLawNames parameters;
};

struct SurfaceContactOptions {
  bool self = true;  ///< each body with itself; different bodies touch each other anyway
  std::vector<TriangleObstacle> obstacles = {};
  /// Bodies of the mesh, by their places in its list, whose vertices are all prescribed: they touch neither themselves,
  /// each other nor `obstacles`.
  std::vector<std::size_t> prescribed_bodies = {};
  std::vector<std::string> regions = {};  ///< of the surface, that are groups (contact/surface_groups.hpp)
  std::vector<GroupLaw> laws = {};        ///< other pairs have the law that is shared
  std::vector<std::array<std::size_t, 2>> ignored = {};  ///< pairs of groups, as in GroupLaw, that do not touch
  ContactForces forces = ContactForces::barrier;
  std::int64_t max_pairs = std::int64_t{1} << 28;  ///< of a rank, of each kind, that may touch: 2 GiB
};

/// Contact of a mesh's surface with itself and with obstacles of triangles, by point–triangle and edge–edge pairs
/// (contact/pair_force.hpp), across ranks (docs/architecture.md). Second-order faces are four flat triangles each.
/// Bodies of segments touch by their edges and, against triangles and segments, by their points; bodies of points by
/// these, against all.
///
/// Points, triangles and edges are of groups: a region of the surface, a body of the mesh, an obstacle. Two groups have
/// a law, that which is shared or one of their own, and a pair pushes where its points are nearer than the d̂ of its
/// law. Groups that are `ignored` pass through each other.
///
/// Parameters of each obstacle: `obstacle_position:LABEL` [3], m, by which it is shifted at t = 0,
/// `obstacle_velocity:LABEL` [3], m/s, and `obstacle_angular_velocity:LABEL` [1], rad/s.
///
/// Its Jacobian is a matrix of its own (`couplings_vary`): pairs are made room for that are nearer than 2 d̂
/// of their law.
class SurfaceContact : public ContactTerm {
 public:
  /// Throws Error (input) where a triangle has vertices of two bodies, for a region without a face of the surface and
  /// for two with a face in common. Collective.
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
  bool couplings_serve(const Configuration& at) override;
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override;
  bool moves(int n, const ParameterSet& parameters) const override;
  double max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) override;
  std::string limiting() const override;
  ContactState state(const Configuration& at, const ParameterSet& parameters) override;
  std::string intersecting() const override;
  std::string enclosed(const Configuration& at, const ParameterSet& parameters) override;
  int rebuilds() const;  ///< how often lists of pairs were made

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim
