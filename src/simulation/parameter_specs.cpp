// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "simulation/parameter_specs.hpp"

#include <algorithm>

#include "attach/parameters.hpp"
#include "body/parameters.hpp"
#include "contact/parameters.hpp"
#include "diffsim/elastic/impl/common_parameters.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "diffsim/simulation/material.hpp"
#include "dynamics/parameters.hpp"
#include "load/parameters.hpp"
#include "mesh/cell_model.hpp"
#include "sensor/parameters.hpp"

namespace diffsim {

namespace {

/// Returns the specifications of the parameters of viscosity, loads, attachments, joints, feedback, dynamics and
/// contact.
std::vector<ParameterSpec> specs_of_terms() {
  using Dynamics = DynamicsParameters;
  using Load = LoadParameters;
  using Contact = ContactParameters;
  return {ElasticParameters::viscosity,
          ElasticParameters::bulk_viscosity,
          Load::rayleigh_damping,
          Load::drag,
          Dynamics::gravity,
          Dynamics::damping,
          Load::traction,
          Load::pressure,
          Load::wind,
          Load::wind_drag,
          Load::moment,
          Load::nodal_load,
          AttachmentParameters::stiffness,
          JointParameters::torque,
          JointParameters::stiffness,
          JointParameters::damping,
          JointParameters::target,
          JointParameters::friction,
          JointParameters::limit_stiffness,
          JointParameters::armature,
          JointParameters::initial_coordinates,
          JointParameters::initial_rates,
          JointParameters::point,
          JointParameters::axis,
          JointParameters::ratio,
          FeedbackParameters::policy,
          Dynamics::angular_velocity,
          Dynamics::velocity,
          Dynamics::rest_positions,
          Dynamics::initial_positions,
          Dynamics::initial_velocities,
          Contact::barrier_distance,
          Contact::barrier_stiffness,
          Contact::contact_damping,
          Contact::friction,
          Contact::friction_velocity,
          Contact::restitution,
          Contact::thickness,
          Contact::surface_scale,
          Contact::obstacle_position,
          Contact::obstacle_velocity,
          Contact::obstacle_angular_velocity};
}

}  // namespace

std::vector<ParameterSpec> parameter_specs() {
  std::vector<ParameterSpec> all;
  const auto add = [&](const ParameterSpec& spec) {
    const bool is_there =
        std::any_of(all.begin(), all.end(), [&](const ParameterSpec& other) { return other.name == spec.name; });
    if (!is_there) all.push_back(spec);
  };
  add(DynamicsParameters::density);
  for (const ElasticLaw& law : elastic_laws()) {
    for (const ParameterSpec& spec : law.parameters) add(spec);
    if (law.signal) add(*law.signal);
  }
  for (const CellModel* const model : cell_models())
    for (const ParameterSpec& spec : model->parameters) add(spec);
  for (const ParameterSpec& spec : specs_of_terms()) add(spec);
  return all;
}

std::optional<ParameterSpec> find_parameter_spec(std::string_view name) {
  const std::string_view without_label = name.substr(0, name.find(':'));
  for (const ParameterSpec& spec : parameter_specs())
    if (spec.name == without_label) return spec;
  return {};
}

}  // namespace diffsim
