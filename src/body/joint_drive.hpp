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

/// Geometry of a revolute or prismatic joint, and the nodes on which the joint's coordinate depends.
struct JointNodes {
  JointGeometry geometry;
  JointCoordinate coordinate;  ///< coordinate for the joint's own point and axis
  /// The four nodes of `Joint::body`, then the four nodes of `Joint::other`. If `Joint::other` is the world, the nodes
  /// of `Joint::body` are repeated.
  std::array<VertexLocation, 8> nodes;
};

/// Returns true if both limits of the coordinate of a revolute joint are within π of `joint.coordinate`. The coordinate
/// of a revolute joint is computed modulo 2π, so limits that differ from `joint.coordinate` by π or more have no
/// meaning.
bool are_representable(const Joint& joint, const std::array<double, 2>& limits);

/// Returns the geometry and the nodes of a revolute or prismatic joint. The joint's bodies may be rigid or affine.
/// Throws Error (input) if the joint is neither revolute nor prismatic, if a body is neither rigid nor affine, or if
/// the axis has zero or infinite length. Collective.
JointNodes find_joint_nodes(const TetrahedralMesh& mesh, const Joint& joint);

/// Coordinate of a revolute or prismatic joint (rad, m) and the time derivative of the coordinate (rad/s, m/s).
struct JointMotion {
  double coordinate;
  double rate;
};
/// Returns the motion of a joint with the given nodes at `positions` and `velocities` [local or owned vertices, 3], the
/// same on all ranks. Collective.
JointMotion motion_of(const TetrahedralMesh& mesh, const JointNodes& nodes, const std::vector<double>& positions,
                      const std::vector<double>& velocities);

/// Creates the force term of a driven joint. The parameters of the force term are the torque, target, stiffness,
/// damping, friction, limit stiffness, point and axis in JointParameters, with the suffix `:NAME`, where NAME is the
/// name of the joint; `System::join` creates the parameters of the point and the axis, and the caller creates the other
/// parameters. The friction velocity, the joint's limits, and the distance from a limit at which the barrier force
/// begins are constants that are copied from `drive`; all other coefficients of the joint's force are parameters.
/// Collective. Throws Error (input) if `find_joint_nodes` throws, and in the following cases:
/// - The friction velocity is not positive.
/// - The limits are not in increasing order, or `joint.coordinate` is not strictly between the limits.
/// - The limits of a revolute joint are not within π of `joint.coordinate`.
/// - Limits are given, but `drive.limit_stiffness` is not positive.
/// - Limits are given, but `drive.limit_distance` is negative or infinite, or is 0 although a limit is infinite.
std::unique_ptr<ForceTerm> make_joint_drive(const TetrahedralMesh& mesh, const Joint& joint, const JointDrive& drive);

/// Returns the geometry and the nodes of each joint, or an empty optional if a joint is neither revolute nor prismatic.
/// Collective.
std::vector<std::optional<JointNodes>> find_joint_nodes(const TetrahedralMesh& mesh, const std::vector<Joint>& joints);
/// Returns the coordinates q (JointDrive) of joints at `positions` [local or owned vertices, 3], the same on all ranks.
/// `nodes`: result of `find_joint_nodes` for `joints`; the coordinate of a joint whose optional is empty is NaN. Points
/// and axes that `parameters` does not contain are taken from `joints`. Collective.
std::vector<double> joint_coordinates(MPI_Comm comm, const std::vector<Joint>& joints,
                                      const std::vector<std::optional<JointNodes>>& nodes,
                                      const ParameterSet& parameters, const Field& positions);

}  // namespace diffsim::body
