// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/error.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "diffsim/simulation/scene.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim {
namespace {

/// Computational work of contact per surface triangle and step, relative to the work for the forces of a linear
/// tetrahedron, if few triangles are in contact. The value is smaller for implicit steps, because implicit steps spend
/// most time in linear systems. The value for explicit steps was measured with two plates near each other.
double work_of_contact(Integrator integrator) { return is_explicit(integrator) ? 40.0 : 1.0; }

/// Throws Error (input) if no law of elasticity has the name `model`. The message lists the names of all models.
void require_law(const std::string& model) {
  std::string known = rigid_model;
  for (const ElasticLaw& law : elastic_laws()) {
    if (law.name == model) return;
    known += ", " + law.name;
  }
  for (const CellModel* const cells : cell_models()) known += ", " + cells->name;
  throw Error("unknown material model '" + model + "'; known models: " + known, ErrorKind::input);
}

}  // namespace

CellWork work_of_model(const std::string& model, Integrator integrator, bool has_contact) {
  const CellModel* const cells = find_cell_model(model);
  if (!cells && !model.empty() && model != rigid_model) require_law(model);
  return {cells ? cells->work : 1.0, has_contact ? work_of_contact(integrator) : 0.0};
}

}  // namespace diffsim
