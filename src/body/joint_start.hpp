// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::body {

/// Positions x of the nodes of bodies as functions of the coordinates q of some joints, and velocities of these nodes
/// as functions of the rates of the coordinates. If the coordinate of a joint changes, the bodies on the side of the
/// joint that is not connected with the world move with it; if neither side is connected with the world, the side of
/// `Joint::body` moves. Joints that follow a joint move with it. Arrays of positions and velocities are [owned or local
/// vertices, 3]; entries of owned vertices are read and changed.
class JointStart {
 public:
  /// `joints`: all joints of the scene. `names`: names of the joints whose coordinates are q. `positions`,
  /// `velocities`: initial values. Throws Error (input) for an unknown name, a name that occurs twice, a joint that is
  /// neither revolute nor prismatic or that follows another joint, joints in closed loops, joints with an armature, and
  /// bodies that are not at their rest positions. Collective.
  JointStart(const TetrahedralMesh& mesh, const std::vector<Joint>& joints, const std::vector<std::string>& names,
             std::vector<double> positions, const std::vector<double>& velocities);
  ~JointStart();

  const std::vector<double>& coordinates() const { return coordinates_; }  ///< q at the initial positions, rad or m
  const std::vector<double>& rates() const { return rates_; }  ///< dq/dt at the initial velocities, rad/s or m/s
  /// Sets the entries of x that change with the coordinates to the values at q.
  void set(const std::vector<double>& q, std::vector<double>& x) const;
  /// Sets the same entries of dx to the derivative of x along dq.
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dx) const;
  /// Returns this rank's contribution to the derivative of (∂x/∂q)ᵀ w along the changes dq of q and dw of w.
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const;
  /// Returns the matrix ∂v/∂(dq/dt), [entries of positions, coordinates], at the initial positions.
  std::vector<double> velocity_matrix() const;

 private:
  struct Data;
  std::vector<double> coordinates_, rates_;
  std::unique_ptr<Data> data_;
};

}  // namespace diffsim::body
