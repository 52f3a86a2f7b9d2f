// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "body/assembly.hpp"
#include "body/placed_joints.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::body {

/// All constraints of a system: the constraints of rigid bodies and of joints.
///
/// An assembly is a group of bodies, together with the constraints of these bodies and of their joints. Bodies that
/// joints connect, directly or through other bodies, belong to the same assembly. If a joint follows another joint
/// (`Joint::follows`), the bodies of both joints belong to the same assembly. A body that no joint connects with
/// another body forms a separate assembly. The rank that owns the first body of an assembly does all computations for
/// the assembly, with copies of the nodes that other ranks own.
///
/// The nodes of the constraints on a rank are numbered in this order: the four corners of each rigid body that the rank
/// owns, with four consecutive numbers for each body; the rotors of joints (`Joint::armature`) that the rank owns;
/// copies of nodes that other ranks own.
class ConstraintSet {
 public:
  /// Collects the constraints. `cells`: local indices of this rank's cells that are rigid bodies. `joints`: all joints,
  /// the same list on every rank. Throws Error (input) if one of `cells` is not an affine body, if the constraints are
  /// redundant, or if a joint is not valid. A joint is not valid if the joint names no body, names an unknown or
  /// non-rigid body, connects a body with itself, has an axis of zero or infinite length, or follows itself or an
  /// unknown joint. A joint is also not valid if `require_rotor` throws for the armature, or `require_coupling` for the
  /// followed joint. Collective.
  ConstraintSet(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<Joint>& joints);
  ~ConstraintSet();

  MPI_Comm comm() const { return nodes_->comm(); }
  /// Assemblies (groups of bodies with their constraints) for which this rank does the computations.
  const std::vector<Assembly>& assemblies() const { return assemblies_; }
  /// Computes the constraints of joints from the parameters `joint_point`, `joint_axis` and `joint_ratio`
  /// (PlacedJoints). Throws Error (input) on all ranks if an axis has zero or infinite length, or if a ratio is 0 or
  /// not finite. Collective.
  void set_values(const ParameterSet& parameters);
  /// Sets the change of the parameters `joint_point`, `joint_axis` and `joint_ratio`. Member functions of Assembly with
  /// T = `Along` compute derivatives along this change.
  void set_direction(const ParameterSet& direction);
  /// Returns true if the direction of `set_direction` changes points, axes or ratios of joints; the same on all ranks.
  bool placements_move() const { return placements_move_; }
  using TurnsFor = PlacedJoints::TurnsFor;
  /// Throws Error (run) on all ranks if `PlacedJoints::require_known_turns` throws for the step from the positions
  /// `before` to the positions `after`. Collective.
  void require_known_turns(const NodeVectors<double>& before, const NodeVectors<double>& after, TurnsFor purpose) const;
  /// Overload for fields on local or owned vertices, [vertices, 3]. Collective.
  void require_known_turns(const Field& before, const Field& after, TurnsFor purpose) const;
  /// Joints of this rank's assemblies, with the derivatives of their constraints with respect to points, axes and
  /// ratios.
  PlacedJoints& placed_joints() const { return *placed_joints_; }
  /// Returns true if a joint follows another joint, so that second derivatives of constraints depend on the positions;
  /// the same on all ranks.
  bool has_couplings() const { return has_couplings_; }
  /// Nodes of the constraints on this rank, including copies of nodes that other ranks own.
  const Entities& nodes() const { return *nodes_; }
  /// Number of the constraints' nodes on this rank, including copies of nodes that other ranks own.
  std::size_t num_nodes() const { return nodes_->local(); }
  /// Flag for each node of the constraints on this rank, including copies of other ranks' nodes, [nodes]: non-zero for
  /// the rotors of joints, on which gravity does not act.
  const std::vector<char>& is_rotor() const { return is_rotor_; }
  /// Index of the local vertex of each node that this rank owns, [owned nodes].
  const std::vector<int>& vertices() const { return vertices_; }

  /// Returns the values of `field` at all nodes of this rank, including copies of nodes that other ranks own, [nodes,
  /// components]. `field` is on local or owned vertices; only the values at owned vertices are read. Collective.
  std::vector<double> gather(const Field& field) const;
  /// Sums `values` [nodes, components] over all ranks that have a copy of a node, and adds the sums to `field` at the
  /// owned vertices. Collective.
  void add(const std::vector<double>& values, Field& field) const;

 private:
  std::shared_ptr<const Entities> nodes_;
  std::vector<int> vertices_;
  std::vector<char> is_rotor_;
  std::vector<Assembly> assemblies_;
  std::unique_ptr<PlacedJoints> placed_joints_;
  bool has_couplings_ = false, placements_move_ = false;
  bool steps_need_turns_ = false;  // on any rank
  bool needs_turns(TurnsFor purpose) const;
  struct OnDevice;
  std::unique_ptr<OnDevice> device_;  // device copy of `vertices_`, and buffers
};

}  // namespace diffsim::body
