// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

int parse_step(const Value& value, const Scene& scene) {
  const int step = to_integer(value, 0);
  if (scene.solver.steps >= 0 && step > scene.solver.steps)
    value.place.fail(fmt::format("{} is after the last step, {}; give an earlier step or raise solver.steps", step,
                                 scene.solver.steps));
  return step;
}

/// Parses the key `steps` of an objective: a list of steps, returned in ascending order, or `all`, returned as no
/// value.
std::optional<std::vector<int>> parse_steps(const Mapping& mapping, const Scene& scene) {
  const Value* given = mapping.find("steps");
  if (!given || (given->is_scalar() && given->text == "all")) return {};
  std::vector<int> steps;
  for (const Value* item : to_items(*given)) steps.push_back(parse_step(*item, scene));
  if (steps.empty()) given->place.fail("is an empty list; give step numbers, or all");
  std::sort(steps.begin(), steps.end());
  const auto twice = std::adjacent_find(steps.begin(), steps.end());
  if (twice != steps.end()) given->place.fail(fmt::format("step {} is given twice; remove one", *twice));
  return steps;
}

/// Parses the key `step` of an objective. Returns -1 for the last step.
int parse_single_step(const Mapping& mapping, const Scene& scene) {
  const Value* step = mapping.find("step");
  return step && !(step->is_scalar() && step->text == "last") ? parse_step(*step, scene) : -1;
}

TrackObjective parse_track(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"type", "observations", "steps", "region", "noise", "weight"});
  TrackObjective track;
  const Value& path = mapping.need("observations", "the path of an HDF5 file laid out as trajectory.h5");
  track.observations = beside_scene(to_text(path), scene);
  track.place = path.place;
  track.region = parse_region_or_all(mapping);
  track.steps = parse_steps(mapping, scene);
  return track;
}

TargetObjective parse_target(const Value& value, const Scene& scene, bool of_velocity) {
  const Mapping mapping(value, {"type", "region", "target", "step", "noise", "weight"});
  TargetObjective target;
  target.of_velocity = of_velocity;
  target.region = parse_region_name(mapping.need("region", "the name of a region"));
  target.target = to_vector(mapping.need("target", of_velocity ? "[x, y, z] in m/s" : "[x, y, z] in m"));
  target.step = parse_single_step(mapping, scene);
  return target;
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

SensorObjective parse_reaction(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"type", "region", "observations", "steps", "target", "step", "noise", "weight"});
  SensorObjective objective;
  const RegionName region = parse_region_name(mapping.need("region", "the name of a fixed or moved region"));
  objective.sensor = {
      "reaction", {.quantity = SensorQuantity::reaction, .place = {.region = region.name}}, {region}, region.place};
  objective.datasets = {"/reaction", "/reaction/" + region.name};
  parse_observed(mapping, scene, "[x, y, z] in N, or `observations`: the path of an HDF5 file with /reaction [K, 3]",
                 objective);
  return objective;
}

/// Returns the sensor whose name is the value of the key `sensor`.
const SensorEntry& parse_sensor_name(const Mapping& mapping, const Scene& scene) {
  const Value& name = mapping.need("sensor", "the name of a sensor of the section `sensors`");
  std::vector<std::string> names;
  for (const SensorEntry& sensor : scene.sensors) names.push_back(sensor.name);
  return scene
      .sensors[static_cast<std::size_t>(std::find(names.begin(), names.end(), to_choice(name, names)) - names.begin())];
}

SensorObjective parse_sensor_objective(const Value& value, const Scene& scene) {
  const Mapping mapping(
      value, {"type", "sensor", "observations", "steps", "target", "step", "huber", "covariance", "noise", "weight"});
  SensorObjective objective;
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
  return objective;
}

SensorValueEntry parse_extremum(const Value& value, const Scene& scene, bool is_maximised) {
  std::vector<std::string> keys = keys_of_sensor_value();
  keys.insert(keys.end(), {"type", "weight"});
  SensorValueEntry entry = parse_sensor_value(Mapping(value, keys), scene);
  entry.is_maximised = is_maximised;
  return entry;
}

EffortObjective parse_effort(const Value& value) {
  const Mapping mapping(value, {"type", "parameter", "weight"});
  return {to_text(mapping.need("parameter", "the name of a global parameter"))};
}

JointObjective parse_joint(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"type", "joint", "target", "step", "steps", "noise", "weight"});
  JointObjective joint;
  const Value& name = mapping.need("joint", "the name of a joint; of a robot: ROBOT/JOINT");
  joint.joint = to_text(name);
  joint.place = name.place;
  if (const Value* steps = mapping.find("steps")) {
    to_choice(*steps, {"all"});
    joint.all_steps = true;
    if (mapping.has("step")) mapping.place_of("step").fail("cannot be combined with `steps: all`; remove one");
  }
  joint.target = parse_numbers(mapping.need("target", "a coordinate in rad or m"), scene);
  if (joint.all_steps)
    expect_shape(joint.target, {{}, {scene.solver.steps}}, "a number, or one for each of solver.steps");
  else
    expect_shape(joint.target, {{}}, "a number, in rad or m");
  joint.step = parse_single_step(mapping, scene);
  return joint;
}

Camera parse_camera(const Value& value) {
  const Mapping mapping(value, {"position", "target", "up", "field_of_view", "view_height", "size"});
  Camera camera;
  camera.position = to_vector(mapping.need("position", "the position [x, y, z] of the camera, in m"));
  camera.target = to_vector(mapping.need("target", "the point [x, y, z] at the centre of the image, in m"));
  if (const Value* up = mapping.find("up")) camera.up = to_vector(*up);
  const std::string angle = mapping.one_of({"field_of_view", "view_height"});
  if (angle == "field_of_view")
    camera.field_of_view = to_positive(*mapping.find("field_of_view"), "rad");
  else
    camera.view_height = to_positive(*mapping.find("view_height"), "m");
  const Value& size = mapping.need("size", "the numbers [width, height] of pixels");
  if (!size.is_list() || size.items.size() != 2)
    size.place.fail("is not a list of two numbers of pixels: width, height");
  camera.width = to_integer(size.items[0], 1, 16384);
  camera.height = to_integer(size.items[1], 1, 16384);
  return camera;
}

SilhouetteObjective parse_silhouette(const Value& value, const Scene& scene) {
  const Mapping mapping(value,
                        {"type", "observations", "dataset", "steps", "camera", "region", "filter", "noise", "weight"});
  SilhouetteObjective objective;
  const Value& path = mapping.need("observations", "the path of an HDF5 file with /masks [K, height, width]");
  objective.observations = beside_scene(to_text(path), scene);
  objective.place = path.place;
  objective.camera = parse_camera(mapping.need("camera", "{position:, target:, field_of_view:, size:}"));
  if (const Value* dataset = mapping.find("dataset")) objective.dataset = to_text(*dataset);
  if (const Value* filter = mapping.find("filter")) {
    objective.filter = to_integer(*filter, 1);
    if (objective.filter % 2 == 0) filter->place.fail(filter->text + " is even; give an odd number of pixels");
  }
  objective.region = parse_region_or_all(mapping);
  objective.steps = parse_steps(mapping, scene);
  return objective;
}

}  // namespace

std::vector<std::string> keys_of_sensor_value() { return {"sensor", "component", "step", "steps", "power"}; }

SensorValueEntry parse_sensor_value(const Mapping& mapping, const Scene& scene) {
  SensorValueEntry entry;
  entry.sensor = parse_sensor_name(mapping, scene);
  const std::vector<std::string>& components = type_of(entry.sensor).components;
  entry.weights.assign(components.size(), 0.0);
  std::size_t component = 0;
  if (components.size() > 1) {
    const std::string name = to_choice(mapping.need("component", "one of: " + join(components)), components);
    component = static_cast<std::size_t>(std::find(components.begin(), components.end(), name) - components.begin());
  } else if (const Value* name = mapping.find("component")) {
    to_choice(*name, components);
  }
  entry.weights[component] = 1.0;
  if (mapping.has("steps")) {
    if (mapping.has("step")) mapping.place_of("step").fail("cannot be combined with `steps`; remove one");
    entry.steps = parse_steps(mapping, scene);
    entry.step.reset();
  } else {
    entry.step = parse_single_step(mapping, scene);
  }
  if (const Value* power = mapping.find("power")) {
    entry.power = to_positive(*power, "");
    if (*entry.power < 2.0) power->place.fail(power->text + " is less than 2; give a number of at least 2");
  }
  return entry;
}

std::vector<ObjectiveEntry> parse_objectives(const Value& value, const Scene& scene) {
  std::vector<ObjectiveEntry> objectives;
  for (const Value* item : to_items(value)) {
    const Mapping mapping(
        *item, {"type", "observations", "steps", "region", "target", "step", "noise", "weight", "parameter", "joint",
                "sensor", "huber", "covariance", "component", "power", "camera", "dataset", "filter"});
    ObjectiveEntry objective;
    objective.place = mapping.place();
    const std::vector<std::string> types{"track",    "target_position", "target_velocity", "effort",   "joint",
                                         "reaction", "sensor",          "minimise",        "maximise", "silhouette"};
    const std::string type = to_choice(mapping.need("type", "one of: " + join(types)), types);
    if (type == "track")
      objective.kind = parse_track(*item, scene);
    else if (type == "effort")
      objective.kind = parse_effort(*item);
    else if (type == "joint")
      objective.kind = parse_joint(*item, scene);
    else if (type == "reaction")
      objective.kind = parse_reaction(*item, scene);
    else if (type == "sensor")
      objective.kind = parse_sensor_objective(*item, scene);
    else if (type == "minimise" || type == "maximise")
      objective.kind = parse_extremum(*item, scene, type == "maximise");
    else if (type == "silhouette")
      objective.kind = parse_silhouette(*item, scene);
    else
      objective.kind = parse_target(*item, scene, type == "target_velocity");
    if (const Value* noise = mapping.find("noise"))
      objective.noise = to_positive(*noise, "the unit of the observations");
    if (const Value* weight = mapping.find("weight")) objective.weight = to_positive(*weight, "");
    objectives.push_back(std::move(objective));
  }
  if (objectives.empty()) value.place.fail("is an empty list; give at least one objective");
  return objectives;
}

}  // namespace diffsim::app
