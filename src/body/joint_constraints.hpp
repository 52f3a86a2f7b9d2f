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

/// Returns the three constraints between a revolute or prismatic joint and its rotor vector ρ (`Joint::armature`).
/// `body`, `other`: frames of the joint's bodies. `change`: ρ - ρ₀, where ρ₀ is the rest value of ρ. With the joint's
/// coordinate q and its value q₀ at the rest positions, the constraints are
///
///   revolute:   ρ - ρ₀ = (cos(q - q₀) - 1, sin(q - q₀), 0),   cos(q - q₀) = e·e',  sin(q - q₀) = e·f'
///   prismatic:  ρ - ρ₀ = (q - q₀, 0, 0),                      q - q₀ = d·a'
///
/// e, e', f', d and a' are as in JointForce, with the offset d = p - p'. Rotation angles count in units of 1 m per rad,
/// so |dρ/dt|² = (dq/dt)² in both cases. The constraints are independent of each other and of all other constraints.
std::vector<Constraint> rotor_constraints(const Joint& joint, const Frame& body, const Frame& other,
                                          const LinearForm& change);

}  // namespace diffsim::body
