// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/inertia.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::body {

// The rotor of a joint is a vector ρ, which is stored as a vertex of the mesh (`rotor_mesh`). The armature of the joint
// is the mass of this vertex. Constraints make ρ a function of the joint's coordinate q with |dρ/dt|² = (dq/dt)²
// (`rotor_constraints`), so the kinetic energy of the vertex is ½ armature (dq/dt)².

/// Throws Error (input) if `joint.armature` is not positive and finite, if the joint is neither revolute nor prismatic,
/// or if the mesh has no rotor with the name `joint.rotor()`.
void require_rotor(const TetrahedralMesh& mesh, const Joint& joint);

/// Returns the local index of the vertex of the joint's rotor if this rank owns the vertex, or -1 if another rank owns
/// the vertex. Throws Error (input) if `require_rotor` throws.
int find_rotor(const TetrahedralMesh& mesh, const Joint& joint);

/// Creates the inertia of a joint's rotor. The mass of the rotor is the parameter `joint_armature:NAME`, where NAME is
/// the name of the joint. Throws Error (input) if `require_rotor` throws.
std::unique_ptr<Inertia> make_rotor_inertia(const TetrahedralMesh& mesh, const Joint& joint);

/// Sets the positions and the velocities of the rotors of all joints with an armature to the values that follow from
/// the positions and velocities of the joints' bodies. `positions`: [local or owned vertices, 3] (m); `velocities`:
/// [owned vertices, 3] (m/s). Collective.
void turn_rotors(const TetrahedralMesh& mesh, const std::vector<Joint>& joints, std::vector<double>& positions,
                 std::vector<double>& velocities);

}  // namespace diffsim::body
