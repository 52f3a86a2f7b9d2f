// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Unknowns of a scene whose values are initial coordinates or rates of joints.

#include <cstdint>
#include <string>
#include <vector>

#include "app/scene_sections.hpp"
#include "body/parameters.hpp"

namespace diffsim::app {

bool is_start_of_joints(const std::string& name) {
  return name == JointParameters::initial_coordinates.name || name == JointParameters::initial_rates.name;
}

void parse_start_of_joints(const Mapping& mapping, const Scene& scene, ParameterEntry& entry) {
  for (const std::string key : {"per", "region", "search", "map", "distribution", "filter", "fixed", "axes"})
    if (mapping.has(key)) mapping.place_of(key).fail("does not belong to " + entry.name + "; remove it");
  for (const Value* joint : to_items(mapping.need("joints", "a list of names of revolute and prismatic joints")))
    entry.joints.push_back(to_text(*joint));
  if (entry.joints.empty()) mapping.place_of("joints").fail("is empty; give names of revolute and prismatic joints");
  const std::string what = "a number, or a list with one number per joint";
  const Shape one_for_each{static_cast<std::int64_t>(entry.joints.size())};
  if (const Value* initial = mapping.find("initial")) {
    entry.initial = parse_numbers(*initial, scene);
    expect_shape(*entry.initial, {{}, one_for_each}, what);
  }
  if (const Value* direction = mapping.find("direction")) {
    entry.direction = parse_numbers(*direction, scene);
    expect_shape(*entry.direction, {{}, one_for_each}, what);
  }
}

void check_starts_of_joints(const std::vector<ParameterEntry>& parameters) {
  for (const ParameterEntry& entry : parameters) {
    if (!is_start_of_joints(entry.name)) continue;
    for (const ParameterEntry& other : parameters) {
      const bool excludes = (&other != &entry && is_start_of_joints(other.name)) || other.name == "initial_positions" ||
                            other.name == "initial_velocities" || other.name.starts_with("joint_point") ||
                            other.name.starts_with("joint_axis") || other.name.starts_with("joint_ratio");
      if (excludes)
        other.place.fail("'" + other.name + "' and '" + entry.name + "' cannot both be unknowns; remove one");
    }
  }
}

}  // namespace diffsim::app
