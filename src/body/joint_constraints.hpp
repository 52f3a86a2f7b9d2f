// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "body/linear_form.hpp"
#include "diffsim/body/joint.hpp"

namespace diffsim::body {

/// Returns the unit vector along `axis` and two unit vectors that are perpendicular to it and to each other; the three
/// are right-handed. The second vector is normal to the axis and the coordinate direction with the largest angle to
/// the axis.
std::array<Vector, 3> axes_from(const Vector& axis);

/// Throws Error (input) if the axis of the joint has zero or infinite length.
void require_axis(const Joint& joint);

/// Returns the constraints of a joint between the frames of its two bodies. Relative motions that the joint allows are
/// exactly the motions that satisfy these constraints, if both bodies are rigid. No constraint depends on the others.
std::vector<Constraint> joint_constraints(const Joint& joint, const Frame& body, const Frame& other);

}  // namespace diffsim::body
