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

/// Force of a driven joint (JointDrive), and the nodes on which the force acts.
struct JointNodes {
  JointForce force;
  /// The four nodes of `Joint::body`, then the four nodes of `Joint::other`. If the other body is the world, the nodes
  /// of `Joint::body` are repeated.
  std::array<VertexLocation, 8> nodes;
};

/// Returns true if both limits of the coordinate of a revolute joint are within π of `joint.coordinate`. The coordinate
/// is computed modulo 2π, so limits at a larger distance have no meaning.
bool are_representable(const Joint& joint, const std::array<double, 2>& limits);

/// Returns the nodes of a revolute or prismatic joint, and the joint's force without limits and with
/// `friction_velocity` 1. The bodies may be rigid or affine. Throws Error (input) if the joint is neither revolute nor
/// prismatic, if a body is not affine, or if the axis has zero or infinite length. Collective.
JointNodes find_joint_nodes(const TetrahedralMesh& mesh, const Joint& joint);

/// Creates the force term of a driven joint. The parameters of the term are the JointParameters with the suffix
/// `:NAME`, where NAME is the name of the joint. The term takes the friction velocity, the limits and the distance D at
/// which the barrier force of a limit begins from `drive`; all other values come from the parameters. Collective.
/// Throws Error (input) if `find_joint_nodes` throws, and in the following cases:
/// - The friction velocity is not positive.
/// - The limits are not in increasing order, or `joint.coordinate` is not strictly between the limits.
/// - The limits of a revolute joint are not within π of `joint.coordinate`.
/// - Limits are given, but the limit stiffness `drive.limit_stiffness` is not positive, or the distance D is not
///   positive and finite.
std::unique_ptr<ForceTerm> make_joint_drive(const TetrahedralMesh& mesh, const Joint& joint, const JointDrive& drive);

/// Returns the force and the nodes of each joint. The optional of a joint that is neither revolute nor prismatic is
/// empty. Collective.
std::vector<std::optional<JointNodes>> find_joint_nodes(const TetrahedralMesh& mesh, const std::vector<Joint>& joints);
/// Returns the coordinates q (JointDrive) of joints at `positions` [local or owned vertices, 3]. The result is the same
/// on all ranks. `joints`: result of `find_joint_nodes`; the coordinate of a joint whose optional is empty is NaN.
/// Collective.
std::vector<double> joint_coordinates(MPI_Comm comm, const std::vector<std::optional<JointNodes>>& joints,
                                      const Field& positions);

}  // namespace diffsim::body
