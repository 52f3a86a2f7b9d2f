// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "io/observations.hpp"

namespace diffsim::app {
namespace {

/// Objective that compares the values of a sensor with observed values in a file, or with a target.
class SensorObjective : public Objective {
 public:
  SensorEntry sensor;
  /// Possible names of the dataset in the file `observations`; the first that exists is read.
  std::vector<std::string> datasets;
  std::string observations;               ///< path of a file; if empty, `target` is used
  std::optional<std::vector<int>> steps;  ///< steps of the file to use; if absent, all steps
  std::vector<double> target;             ///< [components], in the unit of the sensor
  int step = -1;                          ///< number of the step of `target`; -1 for the last step
  SensorLossOptions options;
  Place place;  ///< location of the key `observations` or `target` in the scene file

  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override;
  std::vector<RegionName> regions() const override { return sensor.regions; }
  std::string observations_file() const override { return observations; }
  bool has_covariance() const override { return !options.covariance.empty(); }
};

std::unique_ptr<Loss> SensorObjective::make_loss(const Scene& scene, DifferentiableScene& solver) const {
  const SensorObjective& objective = *this;
  const MPI_Comm comm = solver.mesh()->comm();
  const std::shared_ptr<Sensor> source = make_sensor(objective.sensor, solver);
  std::map<int, std::vector<double>> observed;
  if (objective.observations.empty()) {
    observed[objective.step < 0 ? scene.solver.steps : objective.step] = objective.target;
  } else {
    require_readable(comm, objective.observations, objective.place);
    at_place(objective.place, [&] {
      observed = read_observed_values(comm, objective.observations, objective.datasets, source->components().size(),
                                      objective.steps.value_or(std::vector<int>{}));
    });
    require_steps(objective.place, observed.rbegin()->first, scene);
  }
  std::unique_ptr<Loss> loss;
  at_place(objective.place,
           [&] { loss = std::make_unique<SensorLoss>(source, std::move(observed), objective.options); });
  return loss;
}

/// Parses the observed or desired values of a sensor: `observations` with `steps`, or `target` with `step`.
void parse_observed(const Mapping& mapping, const Scene& scene, const std::string& what, SensorObjective& objective) {
  const bool is_observed = mapping.has("observations");
  for (const char* key : {"target", "step"})
    if (is_observed && mapping.has(key))
      mapping.place_of(key).fail("cannot be combined with `observations`; remove one");
  if (!is_observed && mapping.has("steps"))
    mapping.place_of("steps").fail("needs `observations`; with `target`, give `step`");
  if (is_observed) {
    const Value& path = *mapping.find("observations");
    objective.observations = beside_scene(to_text(path), scene);
    objective.place = path.place;
    objective.steps = parse_steps(mapping, scene);
    return;
  }
  const Value& target = mapping.need("target", what);
  objective.target = parse_components(target, objective.sensor);
  objective.place = target.place;
  objective.step = parse_single_step(mapping, scene);
}

std::shared_ptr<const Objective> parse_reaction(const Mapping& mapping, const Scene& scene) {
  auto made = std::make_shared<SensorObjective>();
  SensorObjective& objective = *made;
  const RegionName region = parse_region_name(mapping.need("region", "the name of a fixed or moved region"));
  objective.sensor = {
      "reaction", {.quantity = SensorQuantity::reaction, .place = {.region = region.name}}, {region}, region.place};
  objective.datasets = {"/reaction", "/reaction/" + region.name};
  parse_observed(mapping, scene, "[x, y, z] in N, or `observations`: the path of an HDF5 file with /reaction [K, 3]",
                 objective);
  return made;
}

std::shared_ptr<const Objective> parse_sensor_objective(const Mapping& mapping, const Scene& scene) {
  auto made = std::make_shared<SensorObjective>();
  SensorObjective& objective = *made;
  objective.sensor = parse_sensor_name(mapping, scene);
  objective.datasets = {"/sensors/" + objective.sensor.name};
  const SensorType& type = type_of(objective.sensor);
  parse_observed(mapping, scene,
                 fmt::format("{} ({}), or `observations`: the path of an HDF5 file with /sensors/{}",
                             join(type.components), type.unit, objective.sensor.name),
                 objective);
  if (const Value* huber = mapping.find("huber")) objective.options.huber = to_positive(*huber, type.unit);
  if (const Value* covariance = mapping.find("covariance")) {
    for (const char* other : {"huber", "noise"})
      if (mapping.has(other)) mapping.place_of(other).fail("cannot be combined with `covariance`; remove one");
    objective.options.covariance = parse_covariance(*covariance, objective.sensor);
  }
  return made;
}

}  // namespace

ObjectiveType reaction_objective() {
  return {.name = "reaction",
          .keys = {"type", "region", "observations", "steps", "target", "step", "noise", "weight"},
          .parse = &parse_reaction};
}

ObjectiveType sensor_objective() {
  return {
      .name = "sensor",
      .keys = {"type", "sensor", "observations", "steps", "target", "step", "huber", "covariance", "noise", "weight"},
      .parse = &parse_sensor_objective};
}

}  // namespace diffsim::app
