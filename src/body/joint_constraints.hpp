// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "body/linear_form.hpp"
#include "diffsim/body/joint.hpp"

namespace diffsim::body {

/// Returns a right-handed orthonormal basis (a, e, f). a is the unit vector along `axis`; e is the unit vector along
/// a × e_i, where e_i is the coordinate direction with the smallest |a_i|; f = a × e.
std::array<Vector, 3> axes_from(const Vector& axis);

/// Throws Error (input) if the axis of the joint has zero or infinite length.
void require_axis(const Joint& joint);

/// Returns the constraints of a joint between two bodies. `body`: frame of `joint.body`; `other`: frame of
/// `joint.other`. If both bodies are rigid, the relative motions that satisfy these constraints are exactly the motions
/// that the joint allows. The constraints are independent.
std::vector<Constraint> joint_constraints(const Joint& joint, const Frame& body, const Frame& other);

}  // namespace diffsim::body
