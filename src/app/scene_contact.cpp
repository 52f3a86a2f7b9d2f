// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

double to_non_negative(const Value& value, const std::string& unit) {
  const double number = to_number(value);
  if (number < 0.0) value.place.fail(format_number(number) + " is negative; give " + unit + " >= 0");
  return number;
}

PlaneObstacle parse_plane(const Value& value) {
  const Mapping mapping(value, {"point", "normal"});
  PlaneObstacle plane;
  plane.point = to_vector(mapping.need("point", "[x, y, z], a point of the plane, m"));
  const Value& normal = mapping.need("normal", "[x, y, z], to the free side");
  plane.normal = to_vector(normal);
  if (plane.normal == std::array<double, 3>{})
    normal.place.fail("is zero; give a direction, to the side where the body is");
  return plane;
}

void parse_obstacle(const Value& value, ContactOptions& options) {
  const Mapping mapping(value, {"plane", "velocity", "name"}, {"sphere", "cylinder", "box", "mesh"});
  PlaneObstacle plane = parse_plane(mapping.need("plane", "{point:, normal:}"));
  if (const Value* velocity = mapping.find("velocity")) plane.velocity = to_vector(*velocity);
  plane.label = std::to_string(options.planes.size());
  if (const Value* name = mapping.find("name")) plane.label = to_text(*name);
  for (const PlaneObstacle& other : options.planes)
    if (other.label == plane.label)
      mapping.place_of("name").fail("another obstacle is called '" + plane.label + "'; give each a name of its own");
  options.planes.push_back(plane);
}

}  // namespace

ContactSection parse_contact(const Value& value) {
  const Mapping mapping(
      value, {"barrier_distance", "barrier_stiffness", "friction", "friction_velocity", "obstacles", "self"});
  ContactSection section;
  section.place = mapping.place();
  ContactOptions& options = section.options;
  options.barrier_distance = to_positive(mapping.need("barrier_distance", "d̂, m"), "m");
  options.barrier_stiffness = to_positive(mapping.need("barrier_stiffness", "κ, Pa"), "Pa");
  if (const Value* friction = mapping.find("friction")) {
    options.friction = to_non_negative(*friction, "a number");
    options.with_friction = true;
  }
  if (const Value* velocity = mapping.find("friction_velocity"))
    options.friction_velocity = to_positive(*velocity, "m/s");
  if (const Value* obstacles = mapping.find("obstacles"))
    for (const Value* item : to_items(*obstacles)) parse_obstacle(*item, options);
  if (const Value* self = mapping.find("self"); self && to_boolean(*self))
    self->place.fail("contact of the body with itself is not available in this version; use false");
  if (options.planes.empty())
    mapping.place_of("obstacles").fail("there is nothing to touch; give at least one obstacle");
  return section;
}

}  // namespace diffsim::app
