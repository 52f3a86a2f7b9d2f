// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>

namespace diffsim {

/// Contact quantities of a state, over all ranks.
struct ContactState {
  /// Smallest distance minus thickness, m, over the pairs within the search range.
  double min_distance = std::numeric_limits<double>::infinity();
  /// Number of pairs nearer than the barrier distance of their law (plus their thickness).
  std::int64_t active_pairs = 0;
  /// Number of vertices inside obstacles, edges through triangles, and pairs nearer than their thickness.
  std::int64_t intersections = 0;
  /// Power -Σ f·u, W, over friction forces f and sliding velocities u; 0 without velocities.
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
