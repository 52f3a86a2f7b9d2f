// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>

#include "body/joint_force.hpp"
#include "body/linear_form.hpp"
#include "diffsim/body/joint.hpp"

namespace diffsim::body {

/// Throws Error (input) unless the joint is revolute or prismatic, and therefore has a coordinate.
void require_coordinate(const Joint& joint);

/// Returns the JointForce of a revolute or prismatic joint, without limits and with `friction_velocity` = 1. `body`,
/// `other`: rest positions (m) of the four nodes of `joint.body` and of `joint.other`; no value for the world.
JointForce make_joint_force(const Joint& joint, const std::array<Vector, 4>& body,
                            const std::optional<std::array<Vector, 4>>& other);

}  // namespace diffsim::body
