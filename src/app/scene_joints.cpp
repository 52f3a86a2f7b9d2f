// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Parser of the section `joints` of a scene.
#include <algorithm>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

/// Parses the name of a rigid body, or ROBOT/LINK for a link of a robot. The robot's file is read later, so only the
/// name of the robot is checked.
std::string parse_rigid_body(const Value& value, const Scene& scene) {
  std::vector<std::string> names;
  for (const BodyEntry& body : scene.bodies)
    if (body.rigid) names.push_back(body.name);
  if (value.is_scalar())
    for (const RobotEntry& robot : scene.robots)
      if (value.text.starts_with(robot.name + '/')) return value.text;
  if (names.empty() && scene.robots.empty())
    value.place.fail("names a body, but the scene has neither a body of kind: rigid nor a robot");
  for (const RobotEntry& robot : scene.robots) names.push_back(robot.name + "/LINK");
  return to_choice(value, names);
}

const std::vector<std::string> drive_keys = {"torque",  "target",          "stiffness",
                                             "damping", "friction",        "friction_velocity",
                                             "limits",  "limit_stiffness", "limit_distance"};

/// Returns `keys`, followed by the keys of a joint's drive.
std::vector<std::string> with_drive_keys(std::vector<std::string> keys) {
  keys.insert(keys.end(), drive_keys.begin(), drive_keys.end());
  return keys;
}

/// Parses the keys of a joint's drive.
void parse_drive(const Mapping& mapping, const Scene& scene, JointEntry& entry) {
  const std::int64_t steps = scene.solver.steps;
  const auto parse_signal = [&](const char* key, Numbers& numbers) {
    const Value* const given = mapping.find(key);
    if (!given) return;
    entry.is_driven = true;
    numbers = parse_numbers(*given, scene);
    expect_shape(numbers, {{}, {steps}}, "a number, or one for each of solver.steps");
  };
  parse_signal("torque", entry.torque);
  parse_signal("target", entry.target);
  const auto parse_gain = [&](const char* key, const char* unit, double& gain) {
    const Value* const given = mapping.find(key);
    if (!given) return;
    entry.is_driven = true;
    gain = to_non_negative(*given, unit);
  };
  parse_gain("stiffness", "N m, or N/m for a prismatic joint", entry.drive.stiffness);
  parse_gain("damping", "N m s, or N s/m for a prismatic joint", entry.drive.damping);
  parse_gain("friction", "N m, or N for a prismatic joint", entry.drive.friction);
  if (const Value* given = mapping.find("friction_velocity")) {
    if (!mapping.has("friction")) given->place.fail("needs `friction`");
    entry.drive.friction_velocity = to_positive(*given, "rad/s, or m/s for a prismatic joint");
  }
  const Value* const limits = mapping.find("limits");
  for (const char* key : {"limit_stiffness", "limit_distance"})
    if (!limits && mapping.has(key)) mapping.place_of(key).fail("needs `limits: [lower, upper]`");
  if (!limits) return;
  entry.is_driven = true;
  if (limits->items.size() != 2 || limits->is_mapping())
    limits->place.fail("give two numbers, [lower, upper], in rad, or m for a prismatic joint");
  for (std::size_t k = 0; k < 2; ++k) entry.drive.limits[k] = to_number(limits->items[k]);
  entry.drive.limit_stiffness = to_positive(
      mapping.need("limit_stiffness", "the stiffness of the barrier at the limits, N m, or N/m"), "N m, or N/m");
  if (const Value* given = mapping.find("limit_distance"))
    entry.drive.limit_distance = to_positive(*given, "rad, or m");
}

/// Parses the joint that a joint follows, and the ratio of their coordinates. `names`: names of all joints.
void parse_follows(const Value& value, const std::vector<std::string>& names, Joint& joint) {
  const Mapping mapping(value, {"joint", "ratio"});
  const Value& leader = mapping.need("joint", "the name of a revolute or prismatic joint");
  joint.follows = to_choice(leader, names);
  if (joint.follows == joint.name) leader.place.fail("is the joint itself; give another joint");
  const Value* const ratio = mapping.find("ratio");
  if (ratio) joint.ratio = to_number(*ratio);
  if (joint.ratio == 0.0) ratio->place.fail("is zero; give a ratio above or below 0, or a fixed joint instead");
}

JointEntry parse_joint(const std::string& name, const Value& value, const Scene& scene,
                       const std::vector<std::string>& names) {
  const Mapping mapping(value, with_drive_keys({"kind", "body", "to", "point", "axis", "armature", "follows"}));
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
  const bool can_be_driven = entry.joint.kind == JointKind::revolute || entry.joint.kind == JointKind::prismatic;
  for (const std::string& key : with_drive_keys({"armature", "follows"}))
    if (!can_be_driven && mapping.has(key))
      mapping.place_of(key).fail("is only allowed for revolute and prismatic joints; remove it");
  if (const Value* armature = mapping.find("armature"))
    entry.joint.armature = to_positive(*armature, "kg m², or kg for a prismatic joint");
  if (const Value* follows = mapping.find("follows")) parse_follows(*follows, names, entry.joint);
  parse_drive(mapping, scene, entry);
  return entry;
}

/// Fails if a joint follows a joint without a coordinate.
void check_leaders(const std::vector<JointEntry>& joints) {
  for (const JointEntry& entry : joints)
    for (const JointEntry& leader : joints)
      if (entry.joint.follows == leader.joint.name && leader.joint.kind != JointKind::revolute &&
          leader.joint.kind != JointKind::prismatic)
        entry.place.fail("follows '" + leader.joint.name + "', which is neither revolute nor prismatic");
}

}  // namespace

std::vector<JointEntry> parse_joints(const Value& value, const Scene& scene) {
  if (!value.is_mapping() || value.items.empty())
    value.place.fail("give a mapping of names, such as `hinge: {kind: revolute, body: door, point: […], axis: […]}`");
  std::vector<JointEntry> joints;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (value.keys[i].find_first_of("/|:") != std::string::npos)
      value.items[i].place.fail("a joint cannot have this name: /, | and : have other meanings; choose another name");
    joints.push_back(parse_joint(value.keys[i], value.items[i], scene, value.keys));
  }
  check_leaders(joints);
  return joints;
}

void parse_drives(const Value& boundary, Scene& scene) {
  for (const Value* item : to_items(boundary)) {
    if (!is_drive(*item)) continue;
    const Mapping mapping(*item, with_drive_keys({"joint"}));
    JointEntry entry;
    entry.place = mapping.place();
    entry.joint.name = to_text(mapping.need("joint", "the name of a joint; of a robot: ROBOT/JOINT"));
    parse_drive(mapping, scene, entry);
    if (!entry.is_driven)
      entry.place.fail("gives no force; add torque, target, stiffness, damping, friction or limits");
    const auto is_same = [&](const JointEntry& other) {
      return other.joint.name == entry.joint.name && other.is_driven;
    };
    if (std::any_of(scene.joints.begin(), scene.joints.end(), is_same) ||
        std::any_of(scene.drives.begin(), scene.drives.end(), is_same))
      entry.place.fail("the joint '" + entry.joint.name + "' is already driven; give all its keys in one place");
    scene.drives.push_back(std::move(entry));
  }
}

bool is_drive(const Value& entry) {
  return entry.is_mapping() && std::find(entry.keys.begin(), entry.keys.end(), "joint") != entry.keys.end();
}

}  // namespace diffsim::app
