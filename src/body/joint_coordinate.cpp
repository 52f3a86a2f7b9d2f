// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_coordinate.hpp"

#include <algorithm>
#include <limits>

#include "body/joint_constraints.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

/// Returns `form`, whose nodes are the body's nodes 0 to 3, as a BodyVector.
BodyVector to_body_vector(const LinearForm& form) {
  BodyVector vector{};
  for (const auto& [node, weight] : form.terms) vector.weights[node] += weight;
  std::copy(form.constant.begin(), form.constant.end(), vector.constant);
  return vector;
}

}  // namespace

void require_coordinate(const Joint& joint) {
  if (joint.kind != JointKind::revolute && joint.kind != JointKind::prismatic)
    throw Error("joint '" + joint.name + "' is " + joint_kinds()[static_cast<std::size_t>(joint.kind)] +
                    "; only revolute and prismatic joints have a coordinate, which a drive, an objective or a joint "
                    "that follows needs",
                ErrorKind::input);
}

JointForce make_joint_force(const Joint& joint, const std::array<Vector, 4>& body,
                            const std::optional<std::array<Vector, 4>>& other) {
  const Frame own(0, body), second = other ? Frame(0, *other) : Frame();
  const auto [a, e, f] = axes_from(joint.axis);
  const bool is_rotation = joint.kind == JointKind::revolute;
  return {is_rotation,
          to_body_vector(is_rotation ? own.direction(e) : own.point(joint.point)),
          to_body_vector(second.point(joint.point)),
          to_body_vector(second.direction(is_rotation ? e : a)),
          to_body_vector(second.direction(f)),
          joint.coordinate,
          1.0,
          -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::infinity(),
          0.0};
}

}  // namespace diffsim::body
