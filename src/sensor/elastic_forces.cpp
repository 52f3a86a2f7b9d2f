// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/elastic_forces.hpp"

namespace diffsim::sensor {

void ElasticForces::prepare() const {
  for (const auto& term : terms_) term->prepare(site_.system->parameters());
}

std::vector<double> ElasticForces::values(const Configuration& at) const {
  Field f = site_.system->scratch_field("sensor::force");
  for (const auto& term : terms_) term->add_force(at, site_.system->parameters(), f);
  return f.to_host();
}

std::vector<double> ElasticForces::tangents(const Configuration& at, const State& tangent,
                                            const ParameterSet& set) const {
  const Field velocities = on_local_vertices(*site_.system, tangent["velocities"]);
  Field df = site_.system->scratch_field("sensor::force");
  for (const auto& term : terms_) {
    term->prepare_tangent(site_.system->parameters(), set);
    term->add_force_tangent(at, {tangent["positions"], &velocities}, set, df);
  }
  return df.to_host();
}

void ElasticForces::add_adjoint(const Evaluation& here, const std::vector<double>& f_bar, CellPositions& bar,
                                ParameterSet& gradient) const {
  System& system = *site_.system;
  const Field seed = local(f_bar);
  Field x_bar = local(bar.x), v_bar = system.scratch_field("sensor::velocities");
  for (const auto& term : terms_) {
    term->begin_adjoint(gradient);
    term->add_force_adjoint(here.at, seed, {x_bar, &v_bar}, gradient);
    term->prepare_adjoint(system.parameters(), gradient);
  }
  bar.x = x_bar.to_host();
}

void ElasticForces::add_adjoint_tangent(const Evaluation& here, const State& tangent, const ParameterSet& set,
                                        const std::vector<double>& f_bar, const std::vector<double>& df_bar,
                                        CellPositions& bar, ParameterSet& gradient_tangent) const {
  System& system = *site_.system;
  const Field seed = local(f_bar), dseed = local(df_bar);
  const Field velocities = on_local_vertices(system, tangent["velocities"]);
  Field x_bar = local(bar.x), v_bar = system.scratch_field("sensor::velocities");
  Field unused = system.scratch_field("sensor::unused");
  ParameterSet first = gradient_tangent.zero_like(gradient_tangent.names());
  for (const auto& term : terms_) {
    term->begin_adjoint(gradient_tangent);
    term->begin_adjoint_tangent(gradient_tangent, set);
    // First derivatives, because `prepare_adjoint_tangent` uses their sums.
    term->add_force_adjoint(here.at, seed, {unused, &v_bar}, first);
    term->add_force_adjoint_tangent(here.at, {tangent["positions"], &velocities}, set, &seed, &dseed, {x_bar, &v_bar},
                                    gradient_tangent);
    term->prepare_adjoint_tangent(system.parameters(), set, gradient_tangent);
  }
  bar.x = x_bar.to_host();
}

Field ElasticForces::local(const std::vector<double>& values) const {
  Field field = site_.system->scratch_field("sensor::seed");
  field.from_host(values);
  return field;
}

}  // namespace diffsim::sensor
