// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/dynamics/system.hpp"

namespace diffsim::sensor {

/// System of a scene, with the length of a time step and the number of steps over which loads grow.
struct Site {
  System* system;
  double dt;       ///< length of a time step, s
  int ramp_steps;  ///< ImplicitOptions::ramp_steps; 0 for explicit steps

  const TetrahedralMesh& mesh() const { return system->mesh(); }
};

/// Returns a field [local vertices, 3] with the values of `owned` [owned vertices, 3] and with ghost values up to date.
/// Collective.
Field on_local_vertices(const System& system, const Field& owned);
/// Adds the entries of `from` [local vertices, 3] at owned vertices to `to` [local or owned vertices, 3].
void add_owned(const Field& from, Field& to);
/// Sums the contributions `local` [local vertices, 3] of all ranks to each vertex, and adds the sums to the entries of
/// `to` at owned vertices. Collective.
void add_summed(const System& system, const std::vector<double>& local, Field& to);

/// Configuration (positions, velocities, time) at which a sensor evaluates the forces of state n. Parameters with one
/// value per step have the values of step n - 1, which computed state n; for n = 0, the values of step 0. Collective.
struct Evaluation {
  Field velocities;  // on local vertices
  Configuration at;
  Evaluation(const Site& site, int n, const State& state);
};

/// Returns gravity (m/s²) from `set`, multiplied by the load factor of the configuration. Returns zeros if `set` does
/// not contain gravity.
Vec3<double> gravity_at(const Configuration& at, const ParameterSet& set);

}  // namespace diffsim::sensor
