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

/// Point that is a linear combination of nodes: x = Σ_k w_k q_k over the first `count` entries of `nodes`.
struct PointStencil {
  static constexpr int most = 10;  ///< number of nodes of a second-order tetrahedron

  int count = 0;
  std::array<VertexLocation, most> nodes{};  ///< owner rank, and index among the nodes that the owner rank owns
  std::array<double, most> weights{};

  static PointStencil of_node(const VertexLocation& node) { return {1, {node}, {1.0}}; }
};

/// Stencils of points with nodes in the local numbering of one rank: the nodes that the rank owns, then copies of other
/// ranks' nodes.
struct NumberedStencils {
  std::vector<VertexLocation> copies;  ///< sorted by rank, then by index
  std::vector<int> begin;              ///< [points + 1]: first entry of each point in `nodes`
  std::vector<int> nodes;
  std::vector<double> weights;  ///< weight of each entry of `nodes`

  /// Converts `stencils` to the local numbering of this rank. `rank`: number of this rank. `owned`: number of nodes
  /// that this rank owns.
  NumberedStencils(const std::vector<PointStencil>& stencils, int rank, int owned);
  int num_points() const { return static_cast<int>(begin.size()) - 1; }
};

/// Linear map from nodes to points, x = W q, with constant weights W. The points are, for example, surface points
/// inside cells, or points fixed to a body that is described by a few nodes.
///
/// Forces f at points become forces Wᵀ f at nodes, and a Jacobian K of points becomes Wᵀ K W.
class PointMap {
 public:
  /// Builds the map. `nodes`: entities of the nodes; copies are ignored. `stencils`: one for each local point of
  /// `points`. Throws Error if the number of stencils is not the number of local points. Collective.
  PointMap(std::shared_ptr<const Entities> nodes, std::shared_ptr<const Entities> points,
           std::vector<PointStencil> stencils);
  ~PointMap();
  PointMap(const PointMap&) = delete;
  PointMap& operator=(const PointMap&) = delete;

  const std::shared_ptr<const Entities>& nodes() const { return nodes_; }
  const std::shared_ptr<const Entities>& points() const { return points_; }
  const std::vector<PointStencil>& stencils() const { return stencils_; }  ///< one for each local point

  /// Computes x = W q at all local points, copies included. q: [nodes, 3]; only the values at owned nodes are read. x:
  /// [local points, 3]. Collective.
  void apply(const Field& q, Field& x) const;
  /// Computes q̄ += Wᵀ x̄, summed over all ranks, at the owned nodes. x̄: [local points, 3], this rank's contributions,
  /// copies included. q̄: [nodes, 3]; only the values at owned nodes change. Collective.
  void add_transpose(const Field& x_bar, Field& q_bar) const;

 private:
  struct Device;
  std::shared_ptr<const Entities> nodes_, points_;
  std::vector<PointStencil> stencils_;
  std::shared_ptr<const Entities> near_;  // owned nodes, then copies of other ranks' nodes in the stencils
  std::unique_ptr<const Device> device_;
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
};

/// Operation that adds Wᵀ K W to a matrix of nodes, in a fixed order, where K is a matrix of points.
class PointMatrixMap {
 public:
  /// Builds the map. `stencils`: one for each row of matrices with the pattern of `points`. The pattern of `nodes` must
  /// couple all nodes of any two coupled points; throws Error otherwise.
  PointMatrixMap(const BlockMatrix& points, const NumberedStencils& stencils, const BlockMatrix& nodes);
  ~PointMatrixMap();
  PointMatrixMap(PointMatrixMap&&) noexcept;
  PointMatrixMap& operator=(PointMatrixMap&&) noexcept;

  /// Returns true if the map was built for the patterns of `points` and `nodes`.
  bool fits(const BlockMatrix& points, const BlockMatrix& nodes) const {
    return of_points_ == points.pattern() && of_nodes_ == nodes.pattern();
  }
  /// Computes nodes += Wᵀ points W.
  void add(const BlockMatrix& points, BlockMatrix& nodes) const;

 private:
  struct Device;
  std::uint64_t of_points_, of_nodes_;
  std::unique_ptr<const Device> device_;
};

/// Adds to `couplings` the couplings of nodes that the product Wᵀ K W needs. K is a matrix of points with the couplings
/// `of_points`. `stencils` has one stencil for each row of K. Also couples the nodes of each point with each other.
/// Sets the ghost vertices of `couplings` to the nodes of other ranks that `stencils` contains.
void add_couplings_of_points(const Couplings& of_points, const NumberedStencils& stencils, Couplings& couplings);

}  // namespace diffsim
