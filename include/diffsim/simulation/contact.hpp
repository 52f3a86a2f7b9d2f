// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/contact/parameters.hpp"
#include "diffsim/contact/surface.hpp"

namespace diffsim {

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
};

/// Triangles that the body cannot pass through, from either side.
struct MeshObstacle {
  contact::TriangleMesh mesh;
  std::array<double, 3> velocity = {};  ///< m/s
  std::string label = {};               ///< empty: its place after the planes
  /// Whether it is a volume, in which no body may begin; else a sheet, which may be open. Not given: a volume if
  /// closed.
  std::optional<bool> solid = {};
  Rotation rotation = {};
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
  bool with_friction = false;  ///< also where µ is 0, for the derivative by it; else where µ > 0
  bool self = false;           ///< the body with itself
  std::int64_t max_pairs = 0;  ///< of a rank, of each kind, that may touch; 0: 2²⁸, or half of the memory free
  std::vector<PlaneObstacle> planes = {};
  std::vector<MeshObstacle> meshes = {};
};

}  // namespace diffsim
