// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Stresses and strains of tetrahedra, and contact forces and reactions of vertices, in a state of a scene.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "contact/contact_term.hpp"
#include "core/exchange.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/scene.hpp"
#include "dynamics/system_model.hpp"
#include "sensor/cell_stress.hpp"
#include "sensor/reaction.hpp"

namespace diffsim {
namespace {

/// Stores `factor` times the symmetric tensor [xx, yy, zz, xy, yz, xz] as the matrix [3, 3] of a cell.
void set_matrix(const sensor::SymmetricTensor& tensor, double factor, std::size_t cell, std::vector<double>& matrices) {
  constexpr std::size_t component[9] = {0, 3, 5, 3, 1, 4, 5, 4, 2};
  for (std::size_t k = 0; k < 9; ++k) matrices[9 * cell + k] = factor * tensor[component[k]];
}

sensor::CellPositions positions_of(const State& state, const ParameterSet& parameters) {
  return {state["positions"].to_host(), parameters.at("rest_positions").field.to_host()};
}

}  // namespace

std::vector<double> DifferentiableScene::cell_stresses(int n, const State& state) {
  system().prepare_if_changed();
  const sensor::Site site{&system(), dt(), integrator_->ramp_steps()};
  Region region;
  region.name = "all";
  region.cells = cells_with_stress();
  const sensor::CellStresses stresses(site, region, [this](const Region& part) { return elastic_terms(part); });
  const sensor::Evaluation here(site, n, state);
  const std::vector<sensor::CellStress> values = stresses.values(here, positions_of(state, parameters()));
  std::vector<double> result(9 * static_cast<std::size_t>(mesh_->num_cells()),
                             std::numeric_limits<double>::quiet_NaN());
  auto value = values.begin();
  for (const sensor::CellStresses::Set& set : stresses.sets())
    for (const int cell : set.cells) set_matrix((value++)->sigma, 1.0, static_cast<std::size_t>(cell), result);
  return result;
}

std::vector<double> DifferentiableScene::cell_strains(const State& state) {
  const sensor::CellPositions at = positions_of(state, parameters());
  std::vector<double> result(9 * static_cast<std::size_t>(mesh_->num_cells()));
  for (int cell = 0; cell < mesh_->num_cells(); ++cell) {
    const sensor::CellSums sums = sensor::cell_sums(*mesh_, {cell}, at);
    set_matrix(sums.strain, 1.0 / sums.rest_volume, static_cast<std::size_t>(cell), result);
  }
  return result;
}

std::vector<double> DifferentiableScene::vertex_contact_forces(int n, const State& state) {
  system().prepare_if_changed();
  const sensor::Evaluation here({&system(), dt(), integrator_->ramp_steps()}, n, state);
  Field force = system().scratch_field("simulation::contact_forces");
  for (ContactTerm* term : contacts_) term->add_force(here.at, parameters(), force);
  for (ContactTerm* term : lagged_frictions_) term->add_force(here.at, parameters(), force);
  mesh_->vertex_exchange().add_to_owners(force);
  std::vector<double> values = force.to_host();
  values.resize(3 * static_cast<std::size_t>(mesh_->num_owned_vertices()));
  return values;
}

std::vector<double> DifferentiableScene::vertex_reactions(int n, const State& state) {
  return sensor::vertex_reactions({&system(), dt(), integrator_->ramp_steps()}, n, state);
}

}  // namespace diffsim
