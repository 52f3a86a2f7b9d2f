// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "body/assembly.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::body {

/// All constraints of a system: rigidity of bodies, and joints.
///
/// Bodies that joints connect, directly or through other bodies, form one assembly. The rank that owns the first body
/// of an assembly computes the assembly, with copies of the nodes that other ranks own. The nodes of this class are the
/// corners of the rank's rigid bodies, four consecutive nodes for each body, followed by the copies.
class ConstraintSet {
 public:
  /// `cells`: this rank's cells that are rigid bodies. `joints`: all joints, the same list on every rank. Throws Error
  /// (input) for a cell that is not an affine body; for a joint of an unknown body, of a body that is not rigid, of a
  /// body with itself, or with an axis of zero length; and for redundant constraints. Collective.
  ConstraintSet(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<Joint>& joints);
  ~ConstraintSet();

  MPI_Comm comm() const { return nodes_->comm(); }
  /// Assemblies that this rank computes.
  const std::vector<Assembly>& assemblies() const { return assemblies_; }
  /// This rank's nodes, copies included.
  const Entities& nodes() const { return *nodes_; }
  /// Number of this rank's nodes, copies included.
  std::size_t num_nodes() const { return nodes_->local(); }
  /// Vertices of the nodes that this rank owns.
  const std::vector<int>& vertices() const { return vertices_; }

  /// Returns the values of `field` at all nodes, [nodes, components]. `field` is on local or owned vertices; only the
  /// values at owned vertices are read. Collective.
  std::vector<double> gather(const Field& field) const;
  /// Adds `values` [nodes, components], summed over all ranks, to the owned vertices of `field`. Collective.
  void add(const std::vector<double>& values, Field& field) const;

 private:
  std::shared_ptr<const Entities> nodes_;
  std::vector<int> vertices_;
  std::vector<Assembly> assemblies_;
  struct OnDevice;
  std::unique_ptr<OnDevice> device_;  // vertices on the device, and buffers
};

}  // namespace diffsim::body
