// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Rotation of an obstacle at a constant rate.
struct Rotation {
  std::array<double, 3> axis = {};    ///< axis of rotation, of any length; zero means no rotation
  std::array<double, 3> origin = {};  ///< point on the axis at t = 0, m; moves with the obstacle
  double angular_velocity = 0.0;      ///< rad/s

  bool turns() const { return axis != std::array<double, 3>{}; }
};

/// Half-space that is bounded by a plane through `point` and moves at a constant velocity.
struct PlaneObstacle {
  std::array<double, 3> point = {};             ///< m
  std::array<double, 3> normal{0.0, 1.0, 0.0};  ///< normal of any length; points out of the half-space
  std::array<double, 3> velocity = {};          ///< m/s
  std::string label = {};                       ///< name; if empty, the index of the plane in the list
  Rotation rotation = {};
  std::optional<double> thickness = {};  ///< thickness in m (see BodyThickness); if not given, no thickness
};

/// Triangles that no body can pass through, from either side.
struct MeshObstacle {
  TriangleMesh mesh;
  std::array<double, 3> velocity = {};  ///< m/s
  std::string label = {};               ///< name; if empty, the number of planes plus the index in the list of meshes
  /// True if the obstacle is a volume, inside which no body may start; false if the obstacle is a sheet, which may be
  /// open. If not given, the obstacle is a volume if the mesh is closed, and a sheet otherwise.
  std::optional<bool> solid = {};
  Rotation rotation = {};
  std::optional<double> thickness = {};  ///< thickness in m (see BodyThickness); if not given, no thickness
};

/// Thickness of a body, the parameter `thickness:NAME`. With a thickness, the surface of the body's mesh represents the
/// middle surface of a thick body, for example of a sheet. The distance of two surfaces stays larger than half of the
/// sum of their thicknesses, ξ = (ξ_A + ξ_B)/2. Surfaces repel each other if their distance is less than ξ + d̂.
struct BodyThickness {
  std::string body;    ///< name of a body of the mesh; `body` if the mesh has a single body without a name
  double value = 0.0;  ///< m
};

/// Contact law of two bodies, of a body with itself, or of a body and an obstacle. A region of a body's surface may be
/// named instead of the body. A value given here is a parameter of the pair, for example `friction:A|B`, with the names
/// in the order of `between`. For a value not given here, the pair uses the value of ContactOptions. The corresponding
/// parameter, for example `friction`, is common to all pairs that do not give the value.
///
/// A region named in a pair consists of the surface triangles on the region's faces. A vertex or an edge with triangles
/// of several regions belongs to the region that the pairs name first (src/contact/surface_groups.hpp). A pair that
/// names a body also applies to the regions of the body. If several pairs apply, the pair that names the most regions
/// is used. If several pairs name equally many regions, the first of these pairs is used.
struct ContactPair {
  /// Names of bodies of the mesh (`body` if the mesh has a single body without a name), labels of obstacles, or names
  /// of regions. In a mesh of several bodies, a region is named BODY/REGION.
  std::array<std::string, 2> between;
  std::optional<double> barrier_distance = {};   ///< d̂, m
  std::optional<double> barrier_stiffness = {};  ///< κ, Pa
  std::optional<double> friction = {};           ///< µ
  std::optional<double> friction_velocity = {};  ///< ε_v, m/s
  std::optional<double> thickness = {};          ///< ξ, m; replaces (ξ_A + ξ_B)/2
  bool touch = true;  ///< false: the named bodies pass through each other, and the other values must not be given

  std::string label() const { return between[0] + '|' + between[1]; }
  /// Returns the values in the order κ, d̂, µ, ε_v, ξ.
  std::array<std::optional<double>, 5> values() const {
    return {barrier_stiffness, barrier_distance, friction, friction_velocity, thickness};
  }
};

struct ContactOptions {
  double barrier_distance = 1e-3;  ///< d̂ (m): surfaces closer than d̂ repel each other
  double barrier_stiffness = 1e6;  ///< κ, Pa
  /// True if κ is chosen once, from the body's stiffness and weight (`DifferentiableScene::adaptive_stiffness`).
  /// Afterwards κ is a parameter like any other: gradients do not include the dependence of κ on stiffness and weight.
  bool adaptive_stiffness = false;
  double friction = 0.0;  ///< µ
  /// Slip velocity ε_v (m/s) below which friction is smoothed.
  double friction_velocity = 1e-5;
  /// Thickness (m) of those bodies of the mesh that have no entry in `thicknesses`. If given, the value becomes the
  /// parameter `thickness`; otherwise the parameter does not exist. The value does not apply to obstacles.
  std::optional<double> thickness = {};
  std::vector<BodyThickness> thicknesses = {};  ///< thicknesses of individual bodies
  std::vector<BodySurface> surfaces = {};       ///< surfaces that replace the boundary triangles of some bodies
  /// True if friction terms exist even if all µ are 0, for gradients with respect to µ. If false, friction terms exist
  /// only if any µ > 0.
  bool with_friction = false;
  /// True if friction uses the normal forces and contact points at the beginning of the time step, but the velocities
  /// that the time step computes (dynamics/lagged_term.hpp). Implicit steps with lagged friction have an incremental
  /// potential. The error relative to friction without lag is O(dt).
  bool lagged_friction = false;
  bool self = false;  ///< true: bodies may touch themselves; different bodies of a mesh touch each other in any case
  /// Maximum number of candidate pairs of each kind (point–triangle and edge–edge) on a rank. With 0, the maximum is
  /// 2²⁸, or less if the memory of 2²⁸ pairs would exceed half of the free memory.
  std::int64_t max_pairs = 0;
  std::vector<PlaneObstacle> planes = {};
  std::vector<MeshObstacle> meshes = {};
  std::vector<ContactPair> pairs = {};  ///< pairs with separate values, and pairs that do not touch
};

/// Sum of the contact forces (N) that the body or obstacle `between[1]` exerts on the body `between[0]`.
struct ContactForce {
  std::array<std::string, 2> between;
  std::array<double, 3> force{};
};

/// Contact quantities of a state, over all ranks.
struct ContactState {
  /// Smallest gap (distance minus thickness, in m) of the pairs within the search range.
  double min_distance = std::numeric_limits<double>::infinity();
  /// Number of pairs whose distance is smaller than the pair's barrier distance plus the pair's thickness.
  std::int64_t active_pairs = 0;
  /// Number of intersections: vertices inside obstacles, edges through triangles, and pairs whose distance is less than
  /// their thickness.
  std::int64_t intersections = 0;
  /// Power -Σ f·u (W) of the friction forces f with the sliding velocities u; 0 if the state has no velocities.
  double friction_power = 0.0;

  void include(const ContactState& other) {
    min_distance = other.min_distance < min_distance ? other.min_distance : min_distance;
    active_pairs += other.active_pairs;
    intersections += other.intersections;
    friction_power += other.friction_power;
  }
  /// Combines the contributions of all ranks: the minimum of the distances, the sums of the other members. Collective.
  void share(MPI_Comm comm);
};

}  // namespace diffsim
