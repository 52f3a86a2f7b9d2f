// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/joint_coordinate.hpp"

#include <algorithm>

#include "body/joint_constraints.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::body {
namespace {

JointGeometry::Body make_body(const std::array<Vector, 4>& rest) {
  JointGeometry::Body body{};
  const std::array<Vector, 3> rows = inverse_edges(rest);
  for (std::size_t k = 0; k < 3; ++k) std::copy(rows[k].begin(), rows[k].end(), body.to_weights[k]);
  for (std::size_t k = 0; k < 4; ++k) std::copy(rest[k].begin(), rest[k].end(), body.rest[k]);
  return body;
}

}  // namespace

void require_coordinate(const Joint& joint) {
  if (joint.kind != JointKind::revolute && joint.kind != JointKind::prismatic)
    throw Error("joint '" + joint.name + "' is " + joint_kinds()[static_cast<std::size_t>(joint.kind)] +
                    "; only revolute and prismatic joints have a coordinate, which a drive, an objective or a joint "
                    "that follows needs",
                ErrorKind::input);
}

JointGeometry make_joint_geometry(const Joint& joint, const std::array<Vector, 4>& body,
                                  const std::optional<std::array<Vector, 4>>& other) {
  JointGeometry::Body world{};
  world.is_world = true;
  return {joint.kind == JointKind::revolute, static_cast<int>(smallest_component(joint.axis)), make_body(body),
          other ? make_body(*other) : world, joint.coordinate};
}

JointCoordinate coordinate_of(const Joint& joint, const JointGeometry& geometry) {
  return coordinate_at(geometry, placement_of(joint));
}

}  // namespace diffsim::body
