// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

std::vector<double> parse_list(const Value& value) {
  std::vector<double> numbers;
  for (const Value* item : to_items(value)) numbers.push_back(to_number(*item));
  return numbers;
}

std::vector<std::size_t> parse_hidden(const Value& value) {
  std::vector<std::size_t> widths;
  for (const Value* item : to_items(value)) widths.push_back(static_cast<std::size_t>(to_integer(*item, 1)));
  return widths;
}

std::size_t sensor_index(const Value& value, const Scene& scene) {
  std::vector<std::string> names;
  for (const SensorEntry& sensor : scene.sensors) names.push_back(sensor.name);
  if (names.empty()) value.place.fail("needs the section `sensors`, in which the scene defines sensors by name");
  const std::string name = to_choice(value, names);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Parses one number per component of the sensors, for example `scales`.
std::vector<double> parse_per_component(const Value& value, const FeedbackEntry& entry, const Scene& scene) {
  std::size_t count = 0;
  for (const std::size_t i : entry.sensors) count += type_of(scene.sensors[i]).components.size();
  std::vector<double> numbers = parse_list(value);
  if (numbers.size() != count)
    value.place.fail(
        fmt::format("has {} numbers; give one for each of the {} components of the sensors", numbers.size(), count));
  return numbers;
}

FeedbackEntry parse_entry(const std::string& name, const Value& value, const Scene& scene) {
  const Mapping mapping(
      value, {"sensors", "offsets", "scales", "frequencies", "controls", "hidden", "limits", "seed", "weights"});
  FeedbackEntry entry;
  entry.name = name;
  entry.place = value.place;
  if (const Value* sensors = mapping.find("sensors"))
    for (const Value* item : to_items(*sensors)) entry.sensors.push_back(sensor_index(*item, scene));
  if (const Value* offsets = mapping.find("offsets")) entry.offsets = parse_per_component(*offsets, entry, scene);
  if (const Value* scales = mapping.find("scales")) {
    entry.scales = parse_per_component(*scales, entry, scene);
    if (std::find(entry.scales.begin(), entry.scales.end(), 0.0) != entry.scales.end())
      scales->place.fail("contains 0; give the size of a typical value of each component");
  }
  if (const Value* frequencies = mapping.find("frequencies")) entry.frequencies = parse_list(*frequencies);
  if (entry.sensors.empty() && entry.frequencies.empty())
    value.place.fail("has neither sensors nor frequencies; give at least one");
  const Value& controls = mapping.need("controls", "the parameters that the feedback sets, such as [joint_torque:hip]");
  for (const Value* item : to_items(controls)) entry.controls.push_back(to_text(*item));
  if (entry.controls.empty()) controls.place.fail("is an empty list; give at least one parameter");
  if (const Value* hidden = mapping.find("hidden")) entry.policy.hidden = parse_hidden(*hidden);
  if (const Value* limits = mapping.find("limits"))
    for (const Value* item : to_items(*limits)) entry.policy.limits.push_back(to_positive(*item, ""));
  if (const Value* seed = mapping.find("seed")) entry.policy.seed = static_cast<std::uint64_t>(to_integer64(*seed, 0));
  if (const Value* weights = mapping.find("weights")) {
    entry.weights = parse_numbers(*weights, scene);
    expect_shape(*entry.weights, {{-1}}, "a list with one number per weight, or {file:, dataset:}");
  }
  return entry;
}

}  // namespace

std::vector<FeedbackEntry> parse_feedback(const Value& value, const Scene& scene) {
  if (!value.is_mapping()) value.place.fail("is not a mapping; give {NAME: {sensors: […], controls: […]}}");
  std::vector<FeedbackEntry> entries;
  for (std::size_t i = 0; i < value.items.size(); ++i)
    entries.push_back(parse_entry(value.keys[i], value.items[i], scene));
  return entries;
}

}  // namespace diffsim::app
