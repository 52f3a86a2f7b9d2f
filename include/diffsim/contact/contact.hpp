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
  std::array<double, 3> origin = {};  ///< point on the axis at t = 0, m; moves with the obstacle's velocity
  double angular_velocity = 0.0;      ///< rad/s

  bool turns() const { return axis != std::array<double, 3>{}; }  ///< true if there is an axis
};

/// Solid half-space that bodies cannot enter, bounded by a plane through `point`. The half-space moves at a constant
/// velocity and may rotate.
struct PlaneObstacle {
  std::array<double, 3> point = {};             ///< point on the plane at t = 0, m
  std::array<double, 3> normal{0.0, 1.0, 0.0};  ///< normal of any length at t = 0; points out of the half-space
  std::array<double, 3> velocity = {};          ///< m/s
  std::string label = {};                       ///< name; if empty, the index in `planes` (ContactOptions)
  Rotation rotation = {};                       ///< rotation of the half-space; default: none
  std::optional<double> thickness = {};         ///< thickness in m (see BodyThickness); if not given, no thickness
};

/// Obstacle of triangles, which moves at a constant velocity and may rotate. No body passes through the triangles, from
/// either side.
struct MeshObstacle {
  TriangleMesh mesh;                    ///< triangles at t = 0
  std::array<double, 3> velocity = {};  ///< m/s
  std::string label = {};               ///< name; if empty, the number of planes plus the index in `meshes`
  /// True if the obstacle is a volume, inside which no body may start; false if the obstacle is a sheet, which may be
  /// open. If not given, the obstacle is a volume if the mesh is closed, and a sheet otherwise.
  std::optional<bool> solid = {};
  Rotation rotation = {};                ///< rotation of the triangles; default: none
  std::optional<double> thickness = {};  ///< thickness in m (see BodyThickness); if not given, no thickness
};

/// Thickness of a body, which is the initial value of the parameter `thickness:NAME`. With a thickness, the surface of
/// the body's mesh represents the middle surface of a thick body, for example of a sheet. Two surfaces A and B with the
/// thicknesses ξ_A and ξ_B stay farther apart than ξ = (ξ_A + ξ_B)/2. The surfaces repel each other if their distance
/// is less than ξ + d̂, where d̂ is the barrier distance (`ContactOptions::barrier_distance`).
struct BodyThickness {
  std::string body;    ///< name of a body of the mesh; "body" if the mesh has a single body without a name
  double value = 0.0;  ///< thickness, m
};

/// Contact law of two bodies, of a body with itself, or of a body and an obstacle. A region of a body's surface may be
/// named instead of the body. A value given here is the initial value of a separate parameter of the pair, for example
/// `friction:A|B`, with the names A and B in the order of `between`. For each of the values d̂, κ, µ and ε_v that is
/// not given here, the pair uses the value of ContactOptions, whose parameter, for example `friction`, is common to all
/// pairs without a separate value. Without a thickness given here, the pair has the mean of the thicknesses of both
/// sides (see BodyThickness).
///
/// A region named in a pair consists of the surface triangles on the region's faces, and of the region's segments and
/// points that are part of the surface. A vertex or an edge with triangles of several regions belongs to the region
/// that the list `ContactOptions::pairs` names first. A pair that names a body also applies to the regions of the body.
/// If several pairs apply, the pair that names the most regions is used. If several pairs name equally many regions,
/// the first of these pairs is used.
struct ContactPair {
  /// Names of bodies of the mesh ("body" if the mesh has a single body without a name), labels of obstacles, or names
  /// of regions. In a mesh of several bodies, a region is named BODY/REGION.
  std::array<std::string, 2> between;
  std::optional<double> barrier_distance = {};   ///< d̂, m (see ContactOptions)
  std::optional<double> barrier_stiffness = {};  ///< κ, Pa
  std::optional<double> friction = {};           ///< Coulomb coefficient µ
  std::optional<double> friction_velocity = {};  ///< ε_v, m/s
  std::optional<double> thickness = {};          ///< ξ, m; replaces the mean of the thicknesses of both sides
  bool touch = true;  ///< false: the two sides pass through each other, and the other values must not be given

  /// Returns the label A|B, with the two names A and B of `between`. The parameters of the pair have this label, for
  /// example `friction:A|B`.
  std::string label() const { return between[0] + '|' + between[1]; }
  /// Returns the values in the order κ, d̂, µ, ε_v, ξ.
  std::array<std::optional<double>, 5> values() const {
    return {barrier_stiffness, barrier_distance, friction, friction_velocity, thickness};
  }
};

/// Options of contact (`DifferentiableScene::add_contact`). The values d̂, κ, µ, ε_v and the thicknesses are the
/// initial values of parameters. The gap of two surfaces is their distance minus the mean of their thicknesses.
struct ContactOptions {
  double barrier_distance = 1e-3;  ///< d̂ (m): surfaces repel each other if their gap is less than d̂
  double barrier_stiffness = 1e6;  ///< stiffness κ of the barrier, Pa; not used if `adaptive_stiffness` is true
  /// True if κ is computed once, from the stiffness and the weight of the bodies
  /// (`DifferentiableScene::adaptive_stiffness`). Afterwards κ is a parameter like any other: gradients do not include
  /// the dependence of κ on stiffness and weight.
  bool adaptive_stiffness = false;
  double friction = 0.0;  ///< Coulomb coefficient µ
  /// Sliding velocity ε_v (m/s) below which friction is smoothed: the friction force increases from 0 at rest to its
  /// full value at ε_v.
  double friction_velocity = 1e-5;
  /// Thickness (m) of those bodies of the mesh that have no entry in `thicknesses`. If given, the value is the initial
  /// value of the parameter `thickness`; otherwise this parameter does not exist. The value does not apply to
  /// obstacles.
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
  bool self = false;  ///< true: each body may also touch itself; contact between different bodies does not need `self`
  /// Maximum number of candidate pairs of each kind (point–triangle and edge–edge) on a rank. With 0, the maximum is
  /// 2²⁸, or less if the pairs of all ranks of a machine would then take more than half of the machine's free memory.
  std::int64_t max_pairs = 0;
  std::vector<PlaneObstacle> planes = {};  ///< half-spaces
  std::vector<MeshObstacle> meshes = {};   ///< obstacles that consist of triangles
  std::vector<ContactPair> pairs = {};     ///< pairs with separate values, and pairs that do not touch
};

/// Sum of the contact forces (N) that the body or obstacle `between[1]` exerts on the body `between[0]`.
struct ContactForce {
  std::array<std::string, 2> between;  ///< names of bodies; `between[1]` may be the label of an obstacle
  std::array<double, 3> force{};       ///< N
};

/// Contact quantities of a state, over all ranks. A pair consists of a point and a triangle, of two edges, or of a
/// vertex and a plane. The gap of a pair is the distance minus the thickness ξ.
struct ContactState {
  /// Smallest gap (m) of all pairs with planes, and of the other pairs that the collision search has found; infinite if
  /// there is no such pair. The search finds every pair whose gap is less than the pair's barrier distance d̂.
  double min_distance = std::numeric_limits<double>::infinity();
  /// Number of pairs whose gap is smaller than the pair's barrier distance d̂.
  std::int64_t active_pairs = 0;
  /// Number of intersections. Each of the following pairs counts as one intersection: a vertex and a plane whose gap is
  /// not positive; an edge and a triangle with a common point; and, if any contact law has a thickness, a pair of a
  /// point and a triangle, or of two edges, whose gap is less than 10⁻¹² times the pair's barrier distance d̂.
  std::int64_t intersections = 0;
  /// Power -Σ f·u (W) that friction dissipates, with the friction forces f and the sliding velocities u; 0 if the state
  /// has no velocities.
  double friction_power = 0.0;

  /// Combines the quantities with those of another contact term: the minimum of the distances, the sums of the other
  /// members.
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
