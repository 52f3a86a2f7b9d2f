// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/contact/surface_areas.hpp"
#include "diffsim/contact/surface_contact.hpp"
#include "diffsim/mesh/bodies.hpp"
#include "obstacle_motion.hpp"
#include "pair_kernels.hpp"

namespace diffsim {

/// Pairs whose gap is less than this many d̂ count as touching where there is a thickness.
inline constexpr double touching_within = 1e-12;

/// Pairs that the Jacobian of a barrier has room for are nearer than this many d̂ beside the thickness.
inline constexpr double coupled_within = 2.0;

struct SurfaceContact::Data {
  using Vectors = contact::Vectors;
  /// Near pairs at a configuration, and the vectors of their vertices.
  struct Here {
    Vectors x, v;  // v is empty without friction
    contact::NearPairs active;
    DeviceArray<int> targets;
  };

  Data(std::shared_ptr<const TetrahedralMesh> the_mesh, SurfaceContactOptions the_options);
  Vectors obstacles_at(const ParameterSet& set, int n, double time) const;
  Vectors still() const { return candidates.pool().take_zeroed<double>("diffsim::contact::still", reference.size()); }
  /// Range and thickness of a law, m.
  struct Reach {
    double range, thickness;
    bool operator==(const Reach&) const = default;
  };
  /// d̂ and ξ of each law.
  std::vector<Reach> reaches_of(const ParameterSet& set, int n) const;
  /// Pairs of the lists come nearer than this; implicit steps need room for more.
  double range(const ParameterSet& set, int n) const;
  /// Pairs that the Jacobian has room for are nearer than this many d̂: friction that lags does not see positions change
  /// within a step.
  double couples_within() const { return options.forces == ContactForces::friction_part ? 1.0 : coupled_within; }
  void cover(const Configuration& at, const Vectors& obstacles, const ParameterSet& set) {
    candidates.cover(at.positions, obstacles, at.positions, obstacles, range(set, at.step));
  }
  /// Near pairs at a configuration, with their vertices. Pairs are not looked for again where the last call had the
  /// same positions.
  Here look(const Configuration& at, const ParameterSet& set, bool with_velocities);
  /// Values, or a direction, of all laws in step n.
  std::vector<contact::LawAddresses> laws_of(const ParameterSet& set, int n) const;
  contact::PairLaws pair_laws(const ParameterSet& set, int n) const { return {laws_of(set, n), law_table, num_groups}; }
  void add_laws(const std::vector<contact::LawSums>& sums, int n, ParameterSet& gradient) const;
  /// local += the sums of values [active, 4, 3] at each vertex, complete at owners. Collective.
  void hand_over(const Here& here, const Vectors& values, Field& local) const;

  std::shared_ptr<const TetrahedralMesh> mesh;
  SurfaceContactOptions options;
  std::vector<contact::ObstacleMotion> motions;
  std::vector<ContactLawNames> law_names{shared_law_names()};  // the first is shared
  DeviceArray<int> law_table;         // [groups, groups]: numbers of laws; empty where there is one
  std::vector<std::uint8_t> ignored;  // [groups, groups]: of groups that do not touch; empty: none
  int num_groups = 1;
  DeviceArray<double> reference;  // [obstacle vertices, 3]
  contact::Candidates candidates;
  contact::RestAreas rest_areas;
  Here last;  // of the last `look`, without velocities
  std::vector<Reach> last_reaches;
  int last_lists = -1;  // the lists that it is of
  const ParameterSet* parameters = nullptr;
  bool assembled = false;                    // a Jacobian was asked for
  DeviceArray<int> coupled;                  // [pairs]: whether the last couplings have it
  int coupled_lists = -1;                    // the lists that they are of
  std::array<std::vector<int>, 3> stencils;  // of the last couplings: pairs of two, three, four vertices of the mesh
  // Derivatives by the rest shape, where asked for.
  bool has_tangent = false, has_gradient = false;
  DeviceArray<double> area_tangent;  // [owned vertices]
  const Field* rest_direction = nullptr;
  Field area_gradient, rest_gradient;  // [local vertices, 3], at owned ones
  std::string limiting, intersecting;
  /// Group of the mesh's body with this place in its list, and of the obstacle with this place in the options.
  std::size_t group_of_body(std::size_t body) const { return options.regions.size() + body; }
  std::size_t group_of_obstacle(std::size_t obstacle) const {
    return static_cast<std::size_t>(num_groups) - options.obstacles.size() + obstacle;
  }
  bool ignores(std::size_t a, std::size_t b) const {
    return !ignored.empty() && ignored[static_cast<std::size_t>(num_groups) * a + b] != 0;
  }
  /// Name of a point, an edge or a triangle by its vertices, for messages: "17 4", "17 4 of gripper" or "obstacle
  /// table's 3 5 2".
  std::string name_of(std::initializer_list<int> vertices) const;
  /// Name of a pair, "vertex 3 and triangle 17 4 5".
  std::string name_of_pair(int pair) const;
  /// Text that names some of the pairs that are nearer than their thickness, for messages.
  std::string text_of_touching(const contact::NearPairs& touching, const Vectors& x) const;
  /// Vertices of a pair.
  std::array<int, 4> vertices_of_pair(int pair) const;
};

}  // namespace diffsim
