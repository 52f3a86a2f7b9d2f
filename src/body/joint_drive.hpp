// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "body/joint_force.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::body {

/// Force of a joint, and the nodes on which the force acts.
struct JointNodes {
  JointForce force;
  /// Four nodes of the body and four of the other body; the body's nodes twice if the other body is the world.
  std::array<VertexLocation, 8> nodes;
};

/// Returns whether both limits of a rotation are within π of the joint's initial coordinate. Coordinates are known up
/// to whole turns, so other limits have no meaning.
bool are_representable(const Joint& joint, const std::array<double, 2>& limits);

/// Finds the nodes of a revolute or prismatic joint. The bodies may be rigid or affine. Throws Error (input) for a
/// joint of another kind, for a body that is not affine, and for an axis of zero length. Collective.
JointNodes find_joint_nodes(const TetrahedralMesh& mesh, const Joint& joint);

/// Creates the force term of a driven joint, whose parameters are those of JointParameters with the suffix `:NAME`. Of
/// `drive`, only the friction velocity and the limits are used. Throws Error (input) for limits that are not in
/// increasing order, that do not contain the initial coordinate, or that are not within π of the initial coordinate of
/// a revolute joint; and for a friction velocity that is not positive. Collective.
std::unique_ptr<ForceTerm> make_joint_drive(const TetrahedralMesh& mesh, const Joint& joint, const JointDrive& drive);

/// Returns the nodes of all joints. Joints that are neither revolute nor prismatic have none. Collective.
std::vector<std::optional<JointNodes>> find_joint_nodes(const TetrahedralMesh& mesh, const std::vector<Joint>& joints);
/// Returns the coordinates of joints at `positions` [local or owned vertices, 3], on all ranks. NaN for joints without
/// nodes. Collective.
std::vector<double> joint_coordinates(MPI_Comm comm, const std::vector<std::optional<JointNodes>>& joints,
                                      const Field& positions);

}  // namespace diffsim::body
