// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "contact/obstacle_motion.hpp"
#include "contact/pair_kernels.hpp"
#include "contact/surface_contact.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

/// Factor c: if any contact law has a thickness, a pair counts as an intersection if the distance of the pair is less
/// than `LawAddresses::kept_distance()` + c d̂, with the barrier distance d̂ of the pair's contact law.
inline constexpr double touching_within = 1e-12;

/// Factor c: the sparsity pattern of the barrier's Jacobian covers the pairs whose distance is less than ξ + c d̂, with
/// the thickness ξ and the barrier distance d̂ of the pair's contact law.
inline constexpr double coupled_within = 2.0;

struct SurfaceContact::Data {
  using Vectors = contact::Vectors;
  /// Active pairs (pairs that exert forces) at a configuration, and the positions x and velocities v of the vertices of
  /// all pairs. A pair is active if its distance is less than ξ + d̂, with the thickness ξ and the barrier distance d̂ of
  /// its contact law.
  struct Here {
    Vectors x, v;  // v is empty without friction
    contact::NearPairs active;
    DeviceArray<int> targets;  // [active, 4]: indices of the four vertices of each active pair
  };

  Data(std::shared_ptr<const TetrahedralMesh> the_mesh, SurfaceContactOptions the_options);
  Vectors obstacles_at(const ParameterSet& set, int n, double time) const;
  Vectors still() const { return candidates.pool().take_zeroed<double>("diffsim::contact::still", reference.size()); }
  /// Barrier distance d̂ (`range`) and thickness ξ of a contact law, both in m.
  struct Reach {
    double range, thickness;
    bool operator==(const Reach&) const = default;
  };
  /// Barrier distances d̂ and thicknesses ξ of all contact laws in time step n.
  std::vector<Reach> reaches_of(const ParameterSet& set, int n) const;
  /// Distance (m) within which the lists of candidate pairs contain all pairs: the maximum of ξ + c d̂ over all contact
  /// laws, with the thickness ξ and the barrier distance d̂ of the law. The factor c is 1 before the first request for
  /// a sparsity pattern, and `couples_within()` afterwards.
  double range(const ParameterSet& set, int n) const;
  /// Factor c: the sparsity pattern of the Jacobian covers the pairs whose distance is less than ξ + c d̂, with the
  /// thickness ξ and the barrier distance d̂ of the pair's contact law. In a term of friction alone, c is 1: only the
  /// pairs that exert forces are covered, because the positions at which lagged friction is evaluated do not change
  /// within a time step.
  double couples_within() const { return options.forces == ContactForces::friction_part ? 1.0 : coupled_within; }
  void cover(const Configuration& at, const Vectors& obstacles, const ParameterSet& set) {
    candidates.cover(at.positions, obstacles, at.positions, obstacles, range(set, at.step));
  }
  /// Returns the active pairs (pairs that exert forces) at a configuration, with the positions and velocities of the
  /// vertices. The active pairs of the last call of `look` are reused if the positions, the thicknesses, the barrier
  /// distances and the lists of candidate pairs have not changed since the last call. Collective.
  Here look(const Configuration& at, const ParameterSet& set, bool with_velocities);
  /// Device addresses of the values of all contact laws for time step n; if `set` is a direction of the parameters,
  /// device addresses of the directions of the values of all contact laws.
  std::vector<contact::LawAddresses> laws_of(const ParameterSet& set, int n) const;
  contact::PairLaws pair_laws(const ParameterSet& set, int n) const { return {laws_of(set, n), law_table, num_groups}; }
  void add_laws(const std::vector<contact::LawSums>& sums, int n, ParameterSet& gradient) const;
  /// Sums the vectors `values` [active, 4, 3], given at the four vertices of each active pair, over all pairs of all
  /// ranks, and adds the sum at each owned vertex to the field `local`. Collective.
  void hand_over(const Here& here, const Vectors& values, Field& local) const;

  std::shared_ptr<const TetrahedralMesh> mesh;
  SurfaceContactOptions options;
  std::vector<contact::ObstacleMotion> motions;
  std::vector<ContactLawNames> law_names;  // the first law is the shared law
  DeviceArray<int> law_table;              // [groups, groups]: indices of laws; empty if there is one law
  std::vector<std::uint8_t> ignored;       // [groups, groups]: 1 for two groups without contact; may be empty
  int num_groups = 1;
  DeviceArray<double> reference;  // [obstacle vertices, 3]: reference positions X of all obstacle vertices
  contact::Candidates candidates;
  contact::RestAreas rest_areas;
  Here last;  // result of the last `look`, without velocities
  std::vector<Reach> last_reaches;
  int last_lists = -1;  // value of `rebuilds` when `last` was set
  const ParameterSet* parameters = nullptr;
  bool assembled = false;    // true once a sparsity pattern was requested
  DeviceArray<int> coupled;  // [pairs]: 1 if the last sparsity pattern covers the pair
  int coupled_lists = -1;    // value of `rebuilds` when `coupled` was set
  // Mesh vertices of the pairs that the last sparsity pattern covers. stencils[k] lists the k + 2 mesh vertices of each
  // pair that has k + 2 mesh vertices.
  std::array<std::vector<int>, 3> stencils;
  // Derivatives with respect to the rest shape, if requested.
  bool has_tangent = false, has_gradient = false;
  DeviceArray<double> area_tangent;  // directional derivatives of rest areas or rest lengths, [owned vertices]
  const Field* rest_direction = nullptr;
  Field area_gradient, rest_gradient;  // [local vertices, 3], set at owned vertices
  std::string limiting, intersecting;
  /// Number of the surface group (see GroupLaw) of the body with the index `body` in the mesh's list of bodies.
  std::size_t group_of_body(std::size_t body) const { return options.regions.size() + body; }
  /// Number of the surface group (see GroupLaw) of the obstacle with the index `obstacle` in `options.obstacles`.
  std::size_t group_of_obstacle(std::size_t obstacle) const {
    return static_cast<std::size_t>(num_groups) - options.obstacles.size() + obstacle;
  }
  bool ignores(std::size_t a, std::size_t b) const {
    return !ignored.empty() && ignored[static_cast<std::size_t>(num_groups) * a + b] != 0;
  }
  /// Returns the index of the body or obstacle that contains the vertex `vertex`; the indices of obstacles follow the
  /// indices of bodies.
  std::size_t owner_of(int vertex) const;
  /// Returns the name, for error messages, of the point, edge or triangle with the given vertices: "17 4", "17 4 of
  /// gripper" or "obstacle table's 3 5 2".
  std::string name_of(std::initializer_list<int> vertices) const;
  /// Name of a pair in error messages, for example "vertex 3 and triangle 17 4 5".
  std::string name_of_pair(int pair) const;
  /// Returns text for an error message that names some of the pairs in the list `touching`. `touching`: result of
  /// `touching_pairs` with the factor `touching_within`, for the contact laws in time step n. The array `x` contains
  /// the vertex positions.
  std::string text_of_touching(const contact::NearPairs& touching, const Vectors& x, int n) const;
  /// Vertex indices of the four points of a pair.
  std::array<int, 4> vertices_of_pair(int pair) const;
};

}  // namespace diffsim
