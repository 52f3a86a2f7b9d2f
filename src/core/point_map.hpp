// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/field_pool.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/block_matrix.hpp"

namespace diffsim {

/// Returns the owned entities of `owned` together with the given copies of other ranks' entities. Collective.
std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<VertexLocation>& copies);

/// Point whose position is a linear combination of node positions: x = Σ_k w_k q_k, k = 0 … `count` - 1. w_k is
/// `weights[k]`, and q_k is the position of `nodes[k]`.
struct PointStencil {
  static constexpr int most = 10;  ///< largest `count`: the number of nodes of a second-order tetrahedron

  int count = 0;
  std::array<VertexLocation, most> nodes{};  ///< owner rank, and index among the nodes that the owner rank owns
  std::array<double, most> weights{};

  static PointStencil of_node(const VertexLocation& node) { return {1, {node}, {1.0}}; }
};

/// Stencils of points, in which nodes are given by local indices. The local indices number first the nodes that this
/// rank owns, then copies of other ranks' nodes.
struct NumberedStencils {
  std::vector<VertexLocation> copies;  ///< sorted by rank, then by index
  std::vector<int> begin;              ///< [points + 1]: index in `nodes` of the first node of each point
  std::vector<int> nodes;
  std::vector<double> weights;  ///< weight of each element of `nodes`

  /// Converts the nodes of `stencils` to local indices. `rank`: number of this rank. `owned`: number of nodes that this
  /// rank owns.
  NumberedStencils(const std::vector<PointStencil>& stencils, int rank, int owned);
  int num_points() const { return static_cast<int>(begin.size()) - 1; }
};

/// Linear map x = W q from node positions q to point positions x, with constant weights W. The points are, for example,
/// surface points inside cells, or points fixed to a body that is described by a few nodes.
///
/// Forces f at points are mapped to forces Wᵀ f at nodes, and a Jacobian K with respect to points is mapped to the
/// Jacobian Wᵀ K W with respect to nodes.
class PointMap {
 public:
  /// Builds the map. `nodes`: entities of the nodes; only owned nodes are used. `stencils`: one for each local point of
  /// `points`. Throws Error if the number of stencils is not the number of local points. Collective.
  PointMap(std::shared_ptr<const Entities> nodes, std::shared_ptr<const Entities> points,
           std::vector<PointStencil> stencils);
  ~PointMap();
  PointMap(const PointMap&) = delete;
  PointMap& operator=(const PointMap&) = delete;

  const std::shared_ptr<const Entities>& nodes() const { return nodes_; }
  const std::shared_ptr<const Entities>& points() const { return points_; }
  const std::vector<PointStencil>& stencils() const { return stencils_; }  ///< one for each local point

  /// Computes the point positions x = W q at all local points, copies included. q: [nodes, 3]; only the values at owned
  /// nodes are read. x: [local points, 3]. Collective.
  void apply(const Field& q, Field& x) const;
  /// Computes q̄ += Wᵀ x̄, summed over all ranks, at the owned nodes. x̄ and q̄ are, for example, forces at points and
  /// at nodes. x̄: [local points, 3], this rank's contributions, copies included. q̄: [nodes, 3]; only the values at
  /// owned nodes change. Collective.
  void add_transpose(const Field& x_bar, Field& q_bar) const;

 private:
  struct Device;
  std::shared_ptr<const Entities> nodes_, points_;
  std::vector<PointStencil> stencils_;
  std::shared_ptr<const Entities> near_;  // owned nodes, then copies of other ranks' nodes in the stencils
  std::unique_ptr<const Device> device_;
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
};

/// Operation that adds Wᵀ K W to a matrix whose rows are nodes; the sums have a fixed order. K is a matrix whose rows
/// are points, and the matrix W maps node positions to point positions (see PointMap).
class PointMatrixMap {
 public:
  /// Builds the map. `stencils`: one for each row of matrices with the pattern of `points`. If the pattern of `points`
  /// couples two points, the pattern of `nodes` must couple all nodes of these points. Throws Error if the pattern of
  /// `nodes` lacks a coupling.
  PointMatrixMap(const BlockMatrix& points, const NumberedStencils& stencils, const BlockMatrix& nodes);
  ~PointMatrixMap();
  PointMatrixMap(PointMatrixMap&&) noexcept;
  PointMatrixMap& operator=(PointMatrixMap&&) noexcept;

  /// Returns true if the map was built for the patterns of `points` and `nodes`.
  bool fits(const BlockMatrix& points, const BlockMatrix& nodes) const {
    return of_points_ == points.pattern() && of_nodes_ == nodes.pattern();
  }
  /// Computes nodes += Wᵀ K W with K = `points`; the matrix W maps node positions to point positions.
  void add(const BlockMatrix& points, BlockMatrix& nodes) const;

 private:
  struct Device;
  std::uint64_t of_points_, of_nodes_;
  std::unique_ptr<const Device> device_;
};

/// Adds to `couplings` the couplings of nodes that the product Wᵀ K W needs. K is a matrix whose rows are points, with
/// the couplings `of_points`. The matrix W maps node positions to point positions. `stencils` has one stencil for each
/// row of K. The function also couples the nodes of each point with each other. Sets the ghost vertices of `couplings`
/// to the nodes of other ranks that `stencils` contains.
void add_couplings_of_points(const Couplings& of_points, const NumberedStencils& stencils, Couplings& couplings);

}  // namespace diffsim
