// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "body/linear_form.hpp"
#include "body/placement.hpp"
#include "diffsim/body/joint.hpp"

namespace diffsim::body {

/// Returns a right-handed orthonormal basis (a, e, f). a is the unit vector along `axis`; e is the unit vector along
/// a × e_i, where e_i is the coordinate direction with the smallest |a_i|; f = a × e.
std::array<Vector, 3> axes_from(const Vector& axis);
/// Returns the index i of the coordinate direction e_i with the smallest |axis_i|.
std::size_t smallest_component(const Vector& axis);

/// Throws Error (input) if the axis of the joint has zero or infinite length.
void require_axis(const Joint& joint);

/// Returns the constraints of `joint` between two bodies, for the given placement of the joint. The directions e and f
/// normal to the axis are computed as in `axes_from`, but always with the coordinate direction e_i that belongs to
/// `joint.axis`, even if the axis of `placement` differs from `joint.axis`. `body`: Frame of `joint.body`; `other`:
/// Frame of `joint.other`. If both bodies are rigid, the relative motions that satisfy the constraints of the joint are
/// exactly the motions that the joint allows. The constraints of one joint are linearly independent.
template <class T>
std::vector<ConstraintOf<T>> joint_constraints(const Joint& joint, const PlacementOf<T>& placement, const Frame& body,
                                               const Frame& other);

/// Returns the three constraints that make a vector ρ, which represents the rotor of a revolute or prismatic joint
/// (`Joint::armature`), a function of the joint's coordinate q. `body`, `other`: Frames of the joint's bodies.
/// `change`: difference ρ - ρ₀ between the vector ρ and its value ρ₀ in the rest configuration. With the value q₀ of
/// the joint's coordinate q in the rest configuration, the constraints are
///   revolute:   ρ - ρ₀ = (cos(q - q₀) - 1, sin(q - q₀), 0),   cos(q - q₀) = e·e',  sin(q - q₀) = e·f'
///   prismatic:  ρ - ρ₀ = (q - q₀, 0, 0),                      q - q₀ = (p - p')·a'
/// where e, e', f', a', p and p' are the directions and points of the joint that JointCoordinateOf defines.
///
/// The components of ρ are lengths, and 1 rad of the coordinate q of a revolute joint corresponds to 1 m; therefore
/// |dρ/dt|² = (dq/dt)² for revolute and for prismatic joints. The three constraints on ρ are linearly independent of
/// each other and of all other constraints.
template <class T>
std::vector<ConstraintOf<T>> rotor_constraints(const Joint& joint, const PlacementOf<T>& placement, const Frame& body,
                                               const Frame& other, const LinearForm& change);

}  // namespace diffsim::body
