// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/constraints.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <utility>

#include "app/inputs.hpp"
#include "app/scene_sections.hpp"
#include "app/setup.hpp"
#include "checkpoint/from_options.hpp"
#include "diffsim/inverse/prior.hpp"

namespace diffsim::app {
namespace {

/// Weights of the values of unknown k in their mean: volumes for values of cells, otherwise 1.
std::vector<double> weights_of(const InverseProblem& problem, const TetrahedralMesh& mesh, std::size_t k,
                               const ParameterEntry& parameter, const Place& place) {
  if (problem.components(k) > 1) place.fail("the mean of vectors is not defined; give a parameter with one component");
  if (parameter.per == ParameterEntry::Per::cell && !parameter.map) return ValueGradient::across_faces(mesh).lumped();
  return std::vector<double>(problem.count(k), 1.0);
}

/// Makes the function of a constraint of unknown k.
std::shared_ptr<ConstraintFunction> make_function(InverseProblem& problem,
                                                  const std::shared_ptr<const TetrahedralMesh>& mesh, std::size_t k,
                                                  const ParameterEntry& parameter, const ConstraintEntry& entry) {
  switch (entry.quantity) {
    case ConstraintEntry::Quantity::relative_volume:
      return make_relative_volume_function(problem, k, mesh);
    case ConstraintEntry::Quantity::distortion:
      return make_distortion_function(problem, k, mesh, entry.power);
    case ConstraintEntry::Quantity::mean:
      break;
  }
  return make_mean_function(problem, k, weights_of(problem, *mesh, k, parameter, entry.place));
}

/// Returns a unique name of the constraint of a sensor, such as "tip y (constraint 2)" or "tip y in pull (constraint
/// 2)".
std::string name_of(const SensorValueEntry& entry, const std::string& experiment, std::size_t number) {
  std::string name = entry.sensor.name;
  const std::vector<std::string>& components = type_of(entry.sensor).components;
  for (std::size_t c = 0; c < components.size(); ++c)
    if (components.size() > 1 && entry.weights[c] != 0.0) name += " " + components[c];
  if (!experiment.empty()) name += " in " + experiment;
  return fmt::format("{} (constraint {})", name, number);
}

}  // namespace

SceneConstraints::SceneConstraints(const std::vector<ConstrainedExperiment>& experiments,
                                   const CheckpointOptions& checkpoints) {
  const ConstrainedExperiment& first = experiments.front();
  // All experiments have the same list of constraints.
  for (std::size_t i = 0; i < first.scene.constraints.size(); ++i) {
    const ConstraintEntry& entry = first.scene.constraints[i];
    const std::size_t* const k = std::get_if<std::size_t>(&entry.of);
    if (k && entry.experiment.empty()) {
      Constraint made{nullptr, entry.lower, entry.upper};
      at_place(entry.place, [&] {
        made.function = make_function(first.problem, first.solver.mesh(), *k, first.scene.parameters[*k], entry);
      });
      of_parameters_.push_back(made.function);
      constraints_.push_back(std::move(made));
      continue;
    }
    for (const ConstrainedExperiment& experiment : experiments)
      if (entry.experiment.empty() || entry.experiment == experiment.scene.experiment)
        add_of_sensor(experiment.scene.constraints.at(i), experiment, checkpoints);
  }
}

/// Adds the constraint of a sensor in one experiment. Collective.
void SceneConstraints::add_of_sensor(const ConstraintEntry& entry, const ConstrainedExperiment& experiment,
                                     const CheckpointOptions& checkpoints) {
  const SensorValueEntry& sensor = std::get<SensorValueEntry>(entry.of);
  losses_.push_back(make_sensor_value(sensor, experiment.scene, experiment.solver));
  CheckpointOptions options = checkpoints;
  use_subdirectory("constraint_" + std::to_string(losses_.size()), options);
  problems_.emplace_back(name_of(sensor, experiment.scene.experiment, losses_.size()),
                         experiment.problem.with_loss(*losses_.back(), options));
  constraints_.push_back(
      {make_loss_function(*problems_.back().second, problems_.back().first, sensor.power.value_or(1.0)), entry.lower,
       entry.upper});
}

void SceneConstraints::set_penalty(std::size_t k, double penalty) {
  for (const auto& [name, problem] : problems_) problem->set_penalty(k, penalty);
}

ReportValue SceneConstraints::report(const std::vector<double>& values) const {
  ReportValue list = ReportValue::list();
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    const Constraint& constraint = constraints_[i];
    ReportValue entry = {{"name", constraint.function->name()}, {"value", values.at(i)}};
    if (std::isfinite(constraint.lower)) entry["at_least"] = constraint.lower;
    if (std::isfinite(constraint.upper)) entry["at_most"] = constraint.upper;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace diffsim::app
