// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/dynamics/system.hpp"

namespace diffsim::sensor {

/// System of a scene, and the time data of the scene's steps.
struct Site {
  System* system;
  double dt;       ///< length of a time step, s
  int ramp_steps;  ///< ImplicitOptions::ramp_steps; 0 for explicit steps

  const TetrahedralMesh& mesh() const { return system->mesh(); }
};

/// Returns a copy of a field [owned vertices, 3] on local vertices, with ghost values up to date. Collective.
Field on_local_vertices(const System& system, const Field& owned);
/// Adds the owned entries of a field on local vertices to a field on local or owned vertices.
void add_owned(const Field& from, Field& to);
/// Sums `local` [local vertices, 3], contributions of this rank, over all ranks, and adds the sums to the owned entries
/// of `to`. Collective.
void add_summed(const System& system, const std::vector<double>& local, Field& to);

/// Configuration at which forces of state n are evaluated. Parameters with one value per step have the values of step
/// n - 1, which computed state n; for n = 0, the values of step 0. Collective.
struct Evaluation {
  Field velocities;  // on local vertices
  Configuration at;
  Evaluation(const Site& site, int n, const State& state);
};

}  // namespace diffsim::sensor
