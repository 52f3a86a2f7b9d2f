// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/entities.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/field_pool.hpp"

namespace diffsim {

/// The entities of `owned` with these copies of other ranks'. Collective.
std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<VertexPlace>& copies);

/// A point that is linear in nodes: x = Σ_k w_k q_k over its first `count` nodes.
struct PointStencil {
  static constexpr int most = 10;  ///< nodes of a second-order tetrahedron

  int count = 0;
  std::array<VertexPlace, most> nodes{};  ///< rank and index there, among the nodes that the rank owns
  std::array<double, most> weights{};

  static PointStencil of_node(const VertexPlace& node) { return {1, {node}, {1.0}}; }
};

/// Stencils of points with their nodes in the numbers of one rank: the nodes that the rank owns, then copies of others.
struct NumberedStencils {
  std::vector<VertexPlace> copies;  ///< by rank, then index
  std::vector<int> begin;           ///< [points + 1]: where the nodes of each point begin
  std::vector<int> nodes;
  std::vector<double> weights;  ///< beside `nodes`

  /// `rank`: this one, which owns `owned` nodes.
  NumberedStencils(const std::vector<PointStencil>& stencils, int rank, int owned);
  int num_points() const { return static_cast<int>(begin.size()) - 1; }
};

/// Points that are linear in nodes, x = W q: surface points inside cells, or points fixed to a body that is described
/// by few nodes. The weights W do not change.
///
/// A map x = W q takes forces f at points to forces Wᵀ f at nodes, and a Jacobian K of points to Wᵀ K W.
class PointMap {
 public:
  /// `nodes`: those that the ranks own, copies are not looked at. `stencils`: of each local point of `points`.
  /// Throws Error where there is not one for each. Collective.
  PointMap(std::shared_ptr<const Entities> nodes, std::shared_ptr<const Entities> points,
           std::vector<PointStencil> stencils);
  ~PointMap();
  PointMap(const PointMap&) = delete;
  PointMap& operator=(const PointMap&) = delete;

  const std::shared_ptr<const Entities>& nodes() const { return nodes_; }
  const std::shared_ptr<const Entities>& points() const { return points_; }
  const std::vector<PointStencil>& stencils() const { return stencils_; }  ///< of each local point

  /// x = W q at all local points, copies included. q: [nodes, 3], of which the owned ones are read; x: [local points,
  /// 3]. Collective.
  void apply(const Field& q, Field& x) const;
  /// q̄ += Wᵀ x̄, complete at the nodes' owners. x̄: [local points, 3], this rank's shares, copies included; q̄: [nodes,
  /// 3], of which the owned ones are changed. Collective.
  void add_transpose(const Field& x_bar, Field& q_bar) const;

 private:
  struct Device;
  std::shared_ptr<const Entities> nodes_, points_;
  std::vector<PointStencil> stencils_;
  std::shared_ptr<const Entities> near_;  // owned nodes, then copies of those that the stencils name
  std::unique_ptr<const Device> device_;
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
};

/// Adds Wᵀ K W to a matrix of nodes, K a matrix of points, in a fixed order.
class PointMatrixMap {
 public:
  /// `stencils`: of the rows of matrices with the pattern of `points`; the pattern of `nodes` couples the nodes of any
  /// two points that are coupled. Throws Error where it does not.
  PointMatrixMap(const BlockMatrix& points, const NumberedStencils& stencils, const BlockMatrix& nodes);
  ~PointMatrixMap();
  PointMatrixMap(PointMatrixMap&&) noexcept;
  PointMatrixMap& operator=(PointMatrixMap&&) noexcept;

  /// Whether it was made for the patterns of these.
  bool fits(const BlockMatrix& points, const BlockMatrix& nodes) const {
    return of_points_ == points.pattern() && of_nodes_ == nodes.pattern();
  }
  /// nodes += Wᵀ points W.
  void add(const BlockMatrix& points, BlockMatrix& nodes) const;

 private:
  struct Device;
  std::uint64_t of_points_, of_nodes_;
  std::unique_ptr<const Device> device_;
};

/// Adds to `couplings` of nodes those that a matrix of points with `of_points` needs, `stencils` being those of its
/// rows, and the nodes of each point with each other. Sets the copies.
void add_couplings_of_points(const Couplings& of_points, const NumberedStencils& stencils, Couplings& couplings);

}  // namespace diffsim
