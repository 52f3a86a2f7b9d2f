// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Parser of the section `joints` of a scene.
#include <algorithm>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

/// Parses the name of a rigid body.
std::string parse_rigid_body(const Value& value, const Scene& scene) {
  std::vector<std::string> names;
  for (const BodyEntry& body : scene.bodies)
    if (body.rigid) names.push_back(body.name);
  if (names.empty()) value.place.fail("names a body, but the scene has no body of kind: rigid; add one to `bodies`");
  return to_choice(value, names);
}

JointEntry parse_joint(const std::string& name, const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"kind", "body", "to", "point", "axis", "torque", "target", "stiffness", "damping"});
  JointEntry entry;
  entry.place = mapping.place();
  entry.joint.name = name;
  entry.joint.kind = joint_kind(to_choice(mapping.need("kind", "one of: " + join(joint_kinds())), joint_kinds()));
  entry.joint.body = parse_rigid_body(mapping.need("body", "the name of a rigid body"), scene);
  if (const Value* to = mapping.find("to")) entry.joint.other = parse_rigid_body(*to, scene);
  if (entry.joint.other == entry.joint.body)
    mapping.place_of("to").fail("is the same body; give another one, or leave `to` out for a joint with the world");
  if (const Value* axis = mapping.find("axis")) {
    entry.joint.axis = to_vector(*axis);
    if (entry.joint.axis == std::array<double, 3>{})
      axis->place.fail("has no length; give a direction such as [0, 0, 1]");
  } else if (entry.joint.kind != JointKind::spherical && entry.joint.kind != JointKind::fixed) {
    mapping.need("axis", "[x, y, z], the direction of the joint's axis");
  }
  entry.joint.point = to_vector(mapping.need("point", "[x, y, z], a point of the joint in the initial placement, m"));
  const bool is_driven = entry.joint.kind == JointKind::revolute || entry.joint.kind == JointKind::prismatic;
  const std::int64_t steps = scene.solver.steps;
  for (const char* key : {"torque", "target", "stiffness", "damping"}) {
    const Value* const given = mapping.find(key);
    if (!given) continue;
    if (!is_driven) given->place.fail("is only allowed for revolute and prismatic joints; remove it");
    entry.is_driven = true;
    if (key == std::string("stiffness")) {
      entry.stiffness = to_non_negative(*given, "N m, or N/m for a prismatic joint");
    } else if (key == std::string("damping")) {
      entry.damping = to_non_negative(*given, "N m s, or N s/m for a prismatic joint");
    } else {
      Numbers& numbers = key == std::string("torque") ? entry.torque : entry.target;
      numbers = parse_numbers(*given, scene);
      expect_shape(numbers, {{}, {steps}}, "a number, or one for each of solver.steps");
    }
  }
  return entry;
}

}  // namespace

std::vector<JointEntry> parse_joints(const Value& value, const Scene& scene) {
  if (!value.is_mapping() || value.items.empty())
    value.place.fail("give a mapping of names, such as `hinge: {kind: revolute, body: door, point: […], axis: […]}`");
  std::vector<JointEntry> joints;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (value.keys[i].find_first_of("/|:") != std::string::npos)
      value.items[i].place.fail("a joint cannot have this name: /, | and : have other meanings; choose another name");
    joints.push_back(parse_joint(value.keys[i], value.items[i], scene));
  }
  return joints;
}

}  // namespace diffsim::app
