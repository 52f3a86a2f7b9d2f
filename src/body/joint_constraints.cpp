// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_constraints.hpp"

#include <algorithm>
#include <cmath>

#include "core/nearest_word.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

const std::vector<std::string>& joint_kinds() {
  static const std::vector<std::string> names{"fixed", "revolute", "prismatic", "spherical", "universal", "planar"};
  return names;
}

JointKind joint_kind(const std::string& name) {
  const std::vector<std::string>& names = joint_kinds();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error("unknown kind of joint '" + name + "'; did you mean '" + nearest(name, names) + "'?", ErrorKind::input);
  return static_cast<JointKind>(found - names.begin());
}

namespace body {
namespace {

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

Vector unit(const Vector& v) {
  const double length = std::hypot(v[0], v[1], v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

}  // namespace

std::array<Vector, 3> axes_from(const Vector& axis) {
  const Vector a = unit(axis);
  std::size_t least = 0;
  for (std::size_t c = 1; c < 3; ++c)
    if (std::abs(a[c]) < std::abs(a[least])) least = c;
  Vector coordinate{};
  coordinate[least] = 1.0;
  const Vector first = unit(cross(a, coordinate));
  return {a, first, cross(a, first)};
}

void require_axis(const Joint& joint) {
  const double length = std::hypot(joint.axis[0], joint.axis[1], joint.axis[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("joint '" + joint.name + "' has an axis of zero or infinite length; give a direction",
                ErrorKind::input);
}

std::vector<Constraint> joint_constraints(const Joint& joint, const Frame& body, const Frame& other) {
  std::vector<Constraint> constraints;
  const auto [a, e, f] = axes_from(joint.axis);
  const LinearForm offset = body.point(joint.point) - other.point(joint.point);
  const auto keep_point = [&] {
    for (const Vector& c : {Vector{1.0, 0.0, 0.0}, Vector{0.0, 1.0, 0.0}, Vector{0.0, 0.0, 1.0}})
      constraints.push_back(product(offset, {{}, c}, 0.0));
  };
  const auto keep_right_angle = [&](const Vector& of_body, const Vector& of_other) {
    constraints.push_back(product(body.direction(of_body), other.direction(of_other), 0.0));
  };
  const auto keep_offset_from = [&](const Vector& normal) {
    constraints.push_back(product(offset, other.direction(normal), 0.0));
  };
  switch (joint.kind) {
    case JointKind::fixed:
      keep_point();
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      keep_right_angle(e, f);
      break;
    case JointKind::revolute:
      keep_point();
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      break;
    case JointKind::prismatic:
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      keep_right_angle(e, f);
      keep_offset_from(e);
      keep_offset_from(f);
      break;
    case JointKind::spherical:
      keep_point();
      break;
    case JointKind::universal:
      keep_point();
      keep_right_angle(a, e);
      break;
    case JointKind::planar:
      keep_right_angle(a, e);
      keep_right_angle(a, f);
      keep_offset_from(a);
      break;
  }
  return constraints;
}

std::vector<Constraint> rotor_constraints(const Joint& joint, const Frame& body, const Frame& other,
                                          const LinearForm& change) {
  const auto [a, e, f] = axes_from(joint.axis);
  const LinearForm offset = body.point(joint.point) - other.point(joint.point);
  std::vector<Constraint> constraints(3);
  if (joint.kind == JointKind::revolute) {
    constraints[0] = product(body.direction(e), other.direction(e), 1.0);
    constraints[1] = product(body.direction(e), other.direction(f), 0.0);
  } else {
    constraints[0] = product(offset, other.direction(a), 0.0);
  }
  for (std::size_t c = 0; c < 3; ++c) {
    Vector direction{};
    direction[c] = -1.0;
    add_component(change, direction, constraints[c]);
  }
  return constraints;
}

}  // namespace body
}  // namespace diffsim
