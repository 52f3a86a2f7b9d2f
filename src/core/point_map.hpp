// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/field_pool.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/block_matrix.hpp"

namespace diffsim {

/// Returns Entities that consist of the owned entities of `owned`, followed by `copies`, copies of other ranks'
/// entities. Collective.
std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<VertexLocation>& copies);

/// Point whose position is a linear combination of node positions: x = Σ_k w_k q_k, k = 0 … `count` - 1. w_k is
/// `weights[k]`, and q_k is the position of `nodes[k]`.
struct PointStencil {
  static constexpr int most = 10;  ///< largest number of nodes of a stencil: 10, as in a second-order tetrahedron

  int count = 0;
  std::array<VertexLocation, most> nodes{};  ///< owner rank of each node, and index of the node among the owner's nodes
  std::array<double, most> weights{};

  static PointStencil of_node(const VertexLocation& node) { return {1, {node}, {1.0}}; }
};

/// Stencils of points, in which nodes are given by local indices. In the local numbering of nodes, the nodes that this
/// rank owns precede the copies of other ranks' nodes.
struct NumberedStencils {
  std::vector<VertexLocation> copies;  ///< copies of other ranks' nodes, sorted by owner rank, then by index
  std::vector<int> begin;              ///< [points + 1]: index in the array `nodes` of the first node of each point
  std::vector<int> nodes;
  std::vector<double> weights;  ///< weight of each node in the array `nodes`

  /// Converts the nodes of `stencils` to local indices. `rank`: number of this rank. `owned`: number of nodes that this
  /// rank owns.
  NumberedStencils(const std::vector<PointStencil>& stencils, int rank, int owned);
  int num_points() const { return static_cast<int>(begin.size()) - 1; }
};

/// Linear map x = W q from node positions q to point positions x, with constant weights W. The points are, for example,
/// surface points inside cells, or points fixed to a body that is described by a few nodes.
///
/// With the matrix W of a PointMap, forces f at points are mapped to forces Wᵀ f at nodes, and a Jacobian K with
/// respect to point positions is mapped to the Jacobian Wᵀ K W with respect to node positions.
class PointMap {
 public:
  /// Builds the map. `nodes`: nodes with the positions q, distributed over the ranks; the copies of other ranks' nodes
  /// in `nodes` are not used. `stencils`: nodes and weights (PointStencil) of each local point of `points`. Throws
  /// Error if the number of stencils is not the number of local points. Collective.
  PointMap(std::shared_ptr<const Entities> nodes, std::shared_ptr<const Entities> points,
           std::vector<PointStencil> stencils);
  ~PointMap();
  PointMap(const PointMap&) = delete;
  PointMap& operator=(const PointMap&) = delete;

  const std::shared_ptr<const Entities>& nodes() const { return nodes_; }
  const std::shared_ptr<const Entities>& points() const { return points_; }
  const std::vector<PointStencil>& stencils() const { return stencils_; }  ///< one stencil for each local point

  /// Computes the positions x = W q of all local points, copies included, from the node positions q and the weights W.
  /// q: [nodes, 3]; only the values at owned nodes are read. x: [local points, 3]. Collective.
  void apply(const Field& q, Field& x) const;
  /// Computes q̄ += Wᵀ x̄, summed over all ranks, at the owned nodes, with the weights W of the map x = W q. x̄ and q̄ are,
  /// for example, forces at points and at nodes. x̄: [local points, 3], this rank's contributions, copies included. q̄:
  /// [nodes, 3]; only the values at owned nodes change. Collective.
  void add_transpose(const Field& x_bar, Field& q_bar) const;

 private:
  struct Device;
  std::shared_ptr<const Entities> nodes_, points_;
  std::vector<PointStencil> stencils_;
  std::shared_ptr<const Entities> near_;  // owned nodes, then copies of other ranks' nodes in the stencils
  std::unique_ptr<const Device> device_;
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
};

/// Operation that adds Wᵀ K W to a matrix whose rows belong to nodes, where the rows of the matrix K belong to points,
/// and the matrix W maps node positions to point positions (see PointMap). The contributions of pairs of points to the
/// block of a pair of nodes are summed in a fixed order.
class PointMatrixMap {
 public:
  /// Builds the map. `stencils`: one stencil for each block row of the matrix `points`. If the matrix `points` has a
  /// block for a pair of points, the matrix `nodes` must have a block for each pair of a node of the first point and a
  /// node of the second point. Throws Error if the matrix `nodes` lacks a block to which blocks of the matrix `points`
  /// contribute.
  PointMatrixMap(const BlockMatrix& points, const NumberedStencils& stencils, const BlockMatrix& nodes);
  ~PointMatrixMap();
  PointMatrixMap(PointMatrixMap&&) noexcept;
  PointMatrixMap& operator=(PointMatrixMap&&) noexcept;

  /// Returns true if this PointMatrixMap was built for the sparsity patterns of the matrices `points` and `nodes`.
  bool fits(const BlockMatrix& points, const BlockMatrix& nodes) const {
    return of_points_ == points.pattern() && of_nodes_ == nodes.pattern();
  }
  /// Computes `nodes` += Wᵀ K W with the matrix K = `points`.
  void add(const BlockMatrix& points, BlockMatrix& nodes) const;

 private:
  struct Device;
  std::uint64_t of_points_, of_nodes_;
  std::unique_ptr<const Device> device_;
};

/// Adds to `couplings` the pairs of nodes for which the product Wᵀ K W has blocks, and all pairs of nodes of the same
/// point. K is a matrix whose rows belong to points, with the sparsity pattern `of_points`, and the matrix W maps node
/// positions to point positions (see PointMap). `stencils`: one stencil for each block row of the matrix K. Sets the
/// ghost vertices of `couplings` to the nodes of other ranks that `stencils` contains.
void add_couplings_of_points(const Couplings& of_points, const NumberedStencils& stencils, Couplings& couplings);

}  // namespace diffsim
