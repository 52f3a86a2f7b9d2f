// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/constraints.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "diffsim/inverse/prior.hpp"

namespace diffsim::app {
namespace {

/// Weights of the values of unknown k in their mean: volumes for values of cells or vertices, otherwise 1.
std::vector<double> weights_of(const InverseProblem& problem, const TetrahedralMesh& mesh, std::size_t k,
                               const ParameterEntry& parameter, const Place& place) {
  if (problem.components(k) > 1) place.fail("the mean of vectors is not defined; give a parameter with one component");
  if (parameter.per == ParameterEntry::Per::cell && !parameter.map) return ValueGradient::across_faces(mesh).lumped();
  return std::vector<double>(problem.count(k), 1.0);
}

}  // namespace

SceneConstraints::SceneConstraints(const Scene& scene, DifferentiableScene& solver, InverseProblem& problem,
                                   const CheckpointOptions& checkpoints) {
  for (const ConstraintEntry& entry : scene.constraints) {
    Constraint made{nullptr, entry.lower, entry.upper};
    if (const std::size_t* k = std::get_if<std::size_t>(&entry.of)) {
      at_place(entry.place, [&] {
        made.function =
            make_mean_function(problem, *k, weights_of(problem, *solver.mesh(), *k, scene.parameters[*k], entry.place));
      });
    } else {
      if (!scene.experiment.empty())
        entry.place.fail("of a sensor is not available for scenes with `experiments`; constrain a parameter");
      const SensorValueEntry& sensor = std::get<SensorValueEntry>(entry.of);
      losses_.push_back(make_sensor_value(sensor, scene, solver));
      CheckpointOptions options = checkpoints;
      options.directory += "/constraint_" + std::to_string(losses_.size());
      problems_.emplace_back(sensor.sensor.name, problem.with_loss(*losses_.back(), options));
      made.function = make_loss_function(*problems_.back().second, sensor.sensor.name);
    }
    constraints_.push_back(std::move(made));
  }
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
