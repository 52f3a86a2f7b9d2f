// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/contact/embedded_surface.hpp"
#include "diffsim/contact/parameters.hpp"
#include "diffsim/contact/surface.hpp"

namespace diffsim {

class TetrahedralMesh;

/// How an obstacle turns, at a constant rate.
struct Rotation {
  std::array<double, 3> axis = {};    ///< of any length; zero: it does not turn
  std::array<double, 3> origin = {};  ///< m, a point of the axis at t = 0, which travels with the obstacle
  double angular_velocity = 0.0;      ///< rad/s

  bool turns() const { return axis != std::array<double, 3>{}; }
};

/// A half-space, bounded by a plane through `point`, that moves with a constant velocity.
struct PlaneObstacle {
  std::array<double, 3> point = {};             ///< m
  std::array<double, 3> normal{0.0, 1.0, 0.0};  ///< to the free side; any length
  std::array<double, 3> velocity = {};          ///< m/s
  std::string label = {};                       ///< empty: its place in the list
  Rotation rotation = {};
  std::optional<double> thickness = {};  ///< m, as of a body
};

/// Triangles that the body cannot pass through, from either side.
struct MeshObstacle {
  TriangleMesh mesh;
  std::array<double, 3> velocity = {};  ///< m/s
  std::string label = {};               ///< empty: its place after the planes
  /// Whether it is a volume, in which no body may begin; else a sheet, which may be open. Not given: a volume if
  /// closed.
  std::optional<bool> solid = {};
  Rotation rotation = {};
  std::optional<double> thickness = {};  ///< m, as of a body
};

/// Thickness of a body, the parameter `thickness:NAME`: the surface that stands for it is the middle of something
/// thicker, as a sheet's is. Two surfaces are kept apart by half of the thickness of both, ξ = (ξ_A + ξ_B)/2, and push
/// where they are nearer than ξ + d̂.
struct BodyThickness {
  std::string body;  ///< name of a body of the mesh, `body` where there is one without a name
  double value = 0.0;
};

/// Law of two bodies, of a body with itself, or of a body and an obstacle; of a region of a body's surface where that
/// is named instead. A value that is given is a parameter of the pair, as `friction:A|B` with the names in the order of
/// `between`. One that is not given is that of ContactOptions, so the parameter that all such pairs share, `friction`.
///
/// A region named by some pair is told apart from the rest of the body by its faces; of which regions vertices and
/// edges are is said in contact/surface_groups.hpp, with regions in the order in which pairs name them. A pair with a
/// body holds for the body's regions too, where no pair with the region does: of all pairs that hold, the one that
/// names most regions, of several the first.
struct ContactPair {
  /// Names of bodies of the mesh, `body` where there is one without a name, labels of obstacles, or else regions, of
  /// one of several bodies as BODY/REGION.
  std::array<std::string, 2> between;
  std::optional<double> barrier_distance = {};   ///< d̂, m
  std::optional<double> barrier_stiffness = {};  ///< κ, Pa
  std::optional<double> friction = {};           ///< µ
  std::optional<double> friction_velocity = {};  ///< ε_v, m/s
  std::optional<double> thickness = {};          ///< ξ, m, by which the two are kept apart, whatever theirs is
  bool touch = true;                             ///< else the two pass through each other; such a pair has no values

  std::string label() const { return between[0] + '|' + between[1]; }
  /// Values in the order of ContactParameters::of_law().
  std::array<std::optional<double>, 5> values() const {
    return {barrier_stiffness, barrier_distance, friction, friction_velocity, thickness};
  }
};

struct ContactOptions {
  double barrier_distance = 1e-3;  ///< d̂, m: nearer than that, surfaces push
  double barrier_stiffness = 1e6;  ///< κ, Pa
  /// κ is chosen from the body's stiffness and weight instead (DifferentiableSolver::adaptive_stiffness), once; from
  /// then on it is a parameter like any other, so gradients are with that κ as it is.
  bool adaptive_stiffness = false;
  double friction = 0.0;  ///< µ
  /// Slip ε_v, m/s, below which friction is smoothed.
  double friction_velocity = *ContactParameters::friction_velocity.default_value;
  /// Thickness of the bodies of the mesh that have none of their own, m: the parameter `thickness`, which is there
  /// where this is given. Obstacles have none but their own.
  std::optional<double> thickness = {};
  std::vector<BodyThickness> thicknesses = {};  ///< of bodies that have their own
  std::vector<BodySurface> surfaces = {};       ///< of bodies that touch by other triangles than their boundary
  bool with_friction = false;  ///< also where all µ are 0, for derivatives by them; else where a µ > 0
  /// Normal forces and places of friction are those that a step begins with, its velocities those of the step
  /// (dynamics/lagged_term.hpp): steps then have a potential. Error O(dt) against friction that does not lag.
  bool lagged_friction = false;
  bool self = false;           ///< each body with itself; different bodies of a mesh touch each other anyway
  std::int64_t max_pairs = 0;  ///< of a rank, of each kind, that may touch; 0: 2²⁸, or half of the memory free
  std::vector<PlaneObstacle> planes = {};
  std::vector<MeshObstacle> meshes = {};
  std::vector<ContactPair> pairs = {};  ///< those with values of their own
};

/// Message for a pair, by its place in the list, that says nothing of contact among a mesh's bodies and obstacles: an
/// unknown name, two obstacles, a body with itself where `self` is false, a pair that is there before, a value that its
/// parameter may not have, values of a pair that does not touch. Empty for a good one.
std::string fault_of_pair(const ContactOptions& options, std::size_t pair, const TetrahedralMesh& mesh,
                          const std::vector<std::size_t>& obstacle_bodies);

}  // namespace diffsim
