// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "app/obstacle_shapes.hpp"
#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

PlaneObstacle parse_plane(const Value& value) {
  const Mapping mapping(value, {"point", "normal"});
  PlaneObstacle plane;
  plane.point = to_vector(mapping.need("point", "[x, y, z], a point of the plane, m"));
  const Value& normal = mapping.need("normal", "[x, y, z], to the free side");
  plane.normal = to_vector(normal);
  if (plane.normal == std::array<double, 3>{})
    normal.place.fail("is zero; give a vector that points to the side of the body");
  return plane;
}

MeshFileObstacle parse_triangles(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"file", "scale", "solid"});
  const Value& file = mapping.need("file", "the path of a file with triangles");
  MeshFileObstacle obstacle;
  obstacle.file = beside_scene(to_text(file), scene);
  if (const Value* scale = mapping.find("scale")) obstacle.scale = to_positive(*scale, "");
  if (const Value* solid = mapping.find("solid")) obstacle.solid = to_boolean(*solid);
  obstacle.place = file.place;
  return obstacle;
}

Rotation parse_rotation(const Value& value) {
  const Mapping mapping(value, {"axis", "origin", "angular_velocity"});
  const Value& axis = mapping.need("axis", "[x, y, z]");
  Rotation rotation;
  rotation.axis = to_vector(axis);
  if (!rotation.turns()) axis.place.fail("is zero; give a direction");
  if (const Value* origin = mapping.find("origin")) rotation.origin = to_vector(*origin);
  rotation.angular_velocity = to_number(mapping.need("angular_velocity", "a number, rad/s"));
  return rotation;
}

void parse_obstacle(const Value& value, const Scene& scene, ContactSection& section) {
  std::vector<std::string> kinds{"plane"};
  for (const ObstacleShape& built_in : obstacle_shapes()) kinds.push_back(built_in.key);
  kinds.push_back("mesh");
  std::vector<std::string> keys = kinds;
  keys.insert(keys.end(), {"velocity", "rotation", "name", "thickness"});
  const Mapping mapping(value, keys);
  const std::string kind = mapping.one_of(kinds);
  const Value& shape = *mapping.find(kind);
  std::array<double, 3> velocity{};
  if (const Value* given = mapping.find("velocity")) velocity = to_vector(*given);
  std::string label = std::to_string(section.labels.size());
  if (const Value* name = mapping.find("name")) label = to_text(*name);
  if (std::find(section.labels.begin(), section.labels.end(), label) != section.labels.end())
    mapping.place_of("name").fail("another obstacle is called '" + label + "'; give each obstacle a unique name");
  section.labels.push_back(label);
  std::optional<double> thickness;
  if (const Value* given = mapping.find("thickness")) {
    section.thick.push_back(label);
    thickness = to_non_negative(*given, "m");
  }
  Rotation rotation;
  if (const Value* given = mapping.find("rotation")) {
    rotation = parse_rotation(*given);
    section.turning.push_back(label);
  }
  if (kind == "plane") {
    PlaneObstacle plane = parse_plane(shape);
    plane.velocity = velocity;
    plane.label = label;
    plane.rotation = rotation;
    plane.thickness = thickness;
    section.options.planes.push_back(plane);
    return;
  }
  MeshObstacle obstacle;
  obstacle.rotation = rotation;
  obstacle.thickness = thickness;
  obstacle.velocity = velocity;
  obstacle.label = label;
  for (const ObstacleShape& built_in : obstacle_shapes())
    if (kind == built_in.key) obstacle.mesh = built_in.parse(shape);
  if (kind == "mesh") {
    section.files.push_back(parse_triangles(shape, scene));
    section.files.back().obstacle = section.options.meshes.size();
    obstacle.solid = section.files.back().solid;
  }
  section.options.meshes.push_back(std::move(obstacle));
}

ContactLawKind to_law(const Value& value) { return to_enum<ContactLawKind>(value, contact_laws()); }

ContactPair parse_pair(const Value& value) {
  const Mapping mapping(value, {"between", "law", "barrier_distance", "barrier_stiffness", "damping", "restitution",
                                "friction", "friction_velocity", "thickness", "touch"});
  const Value& between = mapping.need("between", "[A, B], names of two bodies or of a body and an obstacle");
  if (!between.is_list() || between.items.size() != 2)
    between.place.fail("give [A, B], names of two bodies or of a body and an obstacle");
  ContactPair pair;
  for (std::size_t k = 0; k < 2; ++k) pair.between[k] = to_text(between.items[k]);
  if (const Value* distance = mapping.find("barrier_distance")) pair.barrier_distance = to_positive(*distance, "m");
  if (const Value* stiffness = mapping.find("barrier_stiffness"))
    pair.barrier_stiffness = to_positive(*stiffness, "Pa");
  if (const Value* law = mapping.find("law")) pair.law = to_law(*law);
  if (const Value* damping = mapping.find("damping")) pair.damping = to_non_negative(*damping, "s/m");
  if (const Value* restitution = mapping.find("restitution")) pair.restitution = to_non_negative(*restitution, "");
  if (const Value* friction = mapping.find("friction")) pair.friction = to_non_negative(*friction, "");
  if (const Value* velocity = mapping.find("friction_velocity")) pair.friction_velocity = to_positive(*velocity, "m/s");
  if (const Value* thickness = mapping.find("thickness")) pair.thickness = to_non_negative(*thickness, "m");
  if (const Value* touch = mapping.find("touch")) pair.touch = to_boolean(*touch);
  return pair;
}

}  // namespace

SurfaceFile parse_surface(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"file", "scale"});
  const Value& file = mapping.need("file", "the path of a file with triangles");
  SurfaceFile surface;
  surface.file = beside_scene(to_text(file), scene);
  if (const Value* scale = mapping.find("scale")) surface.scale = to_positive(*scale, "");
  surface.place = file.place;
  return surface;
}

/// Scale of the surface of a body: a number, or {value:, centre:}.
SurfaceScale parse_scale(const std::string& body, const Value& value) {
  SurfaceScale scale{body};
  if (!value.is_mapping()) {
    scale.value = to_positive(value, "");
    return scale;
  }
  const Mapping mapping(value, {"value", "centre"});
  if (const Value* number = mapping.find("value")) scale.value = to_positive(*number, "");
  if (const Value* centre = mapping.find("centre")) scale.centre = to_vector(*centre);
  return scale;
}

/// Scales of surfaces: a mapping from names of bodies to scales.
std::vector<SurfaceScale> parse_scales(const Value& value) {
  const Mapping mapping(value, value.keys);
  std::vector<SurfaceScale> scales;
  for (const std::string& body : value.keys) scales.push_back(parse_scale(body, mapping.need(body, "a scale")));
  return scales;
}

/// Reads the barrier distance and the barrier stiffness, which contact without a pressure does not have.
void parse_pressure(const Mapping& mapping, ContactOptions& options) {
  const auto has_pressure = [&](const ContactPair& pair) {
    return pair.law.value_or(options.law) != ContactLawKind::impact && pair.touch;
  };
  if (options.law == ContactLawKind::impact && std::none_of(options.pairs.begin(), options.pairs.end(), has_pressure)) {
    for (const char* const key : {"barrier_distance", "barrier_stiffness", "friction_velocity", "lagged_friction"})
      if (mapping.find(key)) mapping.place_of(key).fail("has no effect with the contact law impact; remove the key");
    return;
  }
  options.barrier_distance = to_positive(mapping.need("barrier_distance", "d̂, m"), "m");
  const Value& stiffness = mapping.need("barrier_stiffness", "κ, Pa, or adaptive");
  options.adaptive_stiffness = stiffness.is_scalar() && stiffness.text == "adaptive";
  if (!options.adaptive_stiffness) options.barrier_stiffness = to_positive(stiffness, "Pa", "the word adaptive");
}

ContactSection parse_contact(const Value& value, const Scene& scene) {
  const Mapping mapping(
      value, {"law", "barrier_distance", "barrier_stiffness", "damping", "restitution", "friction", "friction_velocity",
              "lagged_friction", "thickness", "obstacles", "self", "max_pairs", "pairs", "surface", "surface_scales"});
  ContactSection section;
  section.place = mapping.place();
  ContactOptions& options = section.options;
  if (const Value* list = mapping.find("pairs"))
    for (const Value* item : to_items(*list)) {
      options.pairs.push_back(parse_pair(*item));
      const ContactPair& pair = options.pairs.back();
      options.with_friction = options.with_friction || pair.friction || pair.damping;
      section.pair_places.push_back(item->place);
    }
  if (const Value* law = mapping.find("law")) options.law = to_law(*law);
  parse_pressure(mapping, options);
  if (const Value* restitution = mapping.find("restitution")) options.restitution = to_non_negative(*restitution, "");
  if (const Value* damping = mapping.find("damping")) {
    options.damping = to_non_negative(*damping, "s/m");
    options.with_friction = true;
  }
  if (const Value* friction = mapping.find("friction")) {
    options.friction = to_non_negative(*friction, "");
    options.with_friction = true;
  }
  if (const Value* velocity = mapping.find("friction_velocity"))
    options.friction_velocity = to_positive(*velocity, "m/s");
  if (const Value* lagged = mapping.find("lagged_friction")) options.lagged_friction = to_boolean(*lagged);
  if (const Value* thickness = mapping.find("thickness")) options.thickness = to_non_negative(*thickness, "m");
  for (const BodyEntry& body : scene.bodies)
    if (body.thickness) options.thicknesses.push_back({body.name, *body.thickness});
  if (const Value* scales = mapping.find("surface_scales")) options.scales = parse_scales(*scales);
  if (const Value* surface = mapping.find("surface")) {
    if (!scene.bodies.empty())
      mapping.place_of("surface").fail(
          "is only allowed here in a scene with `mesh`; give `surface` in one of the `bodies`");
    section.surface = parse_surface(*surface, scene);
  }
  if (const Value* obstacles = mapping.find("obstacles"))
    for (const Value* item : to_items(*obstacles)) parse_obstacle(*item, scene, section);
  if (const Value* self = mapping.find("self")) options.self = to_boolean(*self);
  if (const Value* pairs = mapping.find("max_pairs")) options.max_pairs = to_integer64(*pairs, 1);
  if (section.labels.empty() && !options.self && options.pairs.empty() && scene.bodies.size() < 2 &&
      scene.robots.empty())
    mapping.place_of("obstacles").fail("there is nothing to touch; give at least one obstacle, or self: true");
  return section;
}

}  // namespace diffsim::app
