// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/evaluation.hpp"

#include <algorithm>

#include "core/exchange.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim::sensor {

Field on_local_vertices(const System& system, const Field& owned) {
  Field local = system.scratch_field("sensor::velocities");
  dynamics::copy_values(static_cast<int>(owned.size()), owned, local);
  system.mesh().vertex_exchange().copy_to_ghosts(local);
  return local;
}

void add_owned(const Field& from, Field& to) { dynamics::add_scaled(static_cast<int>(to.owned_size()), 1.0, from, to); }

void add_summed(const System& system, const std::vector<double>& local, Field& to) {
  Field sums = system.scratch_field("sensor::sums");
  sums.from_host(local);
  system.mesh().vertex_exchange().add_to_owners(sums);
  add_owned(sums, to);
}

Evaluation::Evaluation(const Site& site, int n, const State& state)
    : velocities(on_local_vertices(*site.system, state["velocities"])),
      at{state["positions"], std::max(n - 1, 0), nullptr, &velocities, n * site.dt} {
  if (site.ramp_steps > 0) at.load_factor = std::min(1.0, (at.step + 1.0) / site.ramp_steps);
}

Vec3<double> gravity_at(const Configuration& at, const ParameterSet& set) {
  const Parameter* const gravity = set.find("gravity");
  if (!gravity) return {};
  const std::vector<double> g = gravity->field.to_host();
  const std::size_t first = 3 * gravity->offset(at.step);
  return at.factor_of(*gravity) * Vec3<double>{{g[first], g[first + 1], g[first + 2]}};
}

}  // namespace diffsim::sensor
