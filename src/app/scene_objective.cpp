// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "app/objective_types.hpp"
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

}  // namespace

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

int parse_single_step(const Mapping& mapping, const Scene& scene) {
  const Value* step = mapping.find("step");
  return step && !(step->is_scalar() && step->text == "last") ? parse_step(*step, scene) : -1;
}

const SensorEntry& parse_sensor_name(const Mapping& mapping, const Scene& scene) {
  const Value& name = mapping.need("sensor", "the name of a sensor of the section `sensors`");
  std::vector<std::string> names;
  for (const SensorEntry& sensor : scene.sensors) names.push_back(sensor.name);
  return scene
      .sensors[static_cast<std::size_t>(std::find(names.begin(), names.end(), to_choice(name, names)) - names.begin())];
}

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
  std::vector<std::string> names, keys{"type", "observations", "steps", "region", "target", "step", "noise", "weight"};
  for (const ObjectiveType& type : objective_types()) {
    names.push_back(type.name);
    for (const std::string& key : type.keys)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  std::vector<ObjectiveEntry> objectives;
  for (const Value* item : to_items(value)) {
    const Mapping mapping(*item, keys);
    ObjectiveEntry objective;
    objective.place = mapping.place();
    const std::string name = to_choice(mapping.need("type", "one of: " + join(names)), names);
    const ObjectiveType& type = *std::find_if(objective_types().begin(), objective_types().end(),
                                              [&](const ObjectiveType& other) { return other.name == name; });
    objective.function = type.parse(Mapping(*item, type.keys), scene);
    if (const Value* noise = mapping.find("noise"))
      objective.noise = to_positive(*noise, "the unit of the observations");
    if (const Value* weight = mapping.find("weight")) objective.weight = to_positive(*weight, "");
    objectives.push_back(std::move(objective));
  }
  if (objectives.empty()) value.place.fail("is an empty list; give at least one objective");
  return objectives;
}

}  // namespace diffsim::app
