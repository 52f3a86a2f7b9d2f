// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/point_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::point_map_test {
namespace {

constexpr int nodes_a_rank = 5, points_a_rank = 4;

/// Fixture with nodes on each rank, and points between nodes of this rank and of the next ranks. Each rank also has
/// copies of the first points of the next rank.
class PointMapTest : public testing::Test {
 protected:
  PointMapTest() {
    rank_ = rank_of(MPI_COMM_WORLD);
    ranks_ = num_ranks(MPI_COMM_WORLD);
    const int next = (rank_ + 1) % ranks_;
    std::vector<PetscInt> owner, index;
    if (ranks_ > 1)
      for (int k = 0; k < 2; ++k) {
        owner.push_back(next);
        index.push_back(k);
      }
    nodes_ = std::make_shared<const Entities>("nodes", MPI_COMM_WORLD, nodes_a_rank);
    points_ = with_copies(Entities("points", MPI_COMM_WORLD, points_a_rank), owner, index);
    for (int k = 0; k < points_a_rank; ++k) stencils_.push_back(stencil(rank_, k));
    for (std::size_t k = 0; k < owner.size(); ++k) stencils_.push_back(stencil(next, static_cast<int>(index[k])));
    map_ = std::make_unique<PointMap>(nodes_, points_, stencils_);
  }
  /// Returns the stencil of point k of a rank: k + 1 nodes, distributed over the ranks, with weights that sum to one.
  PointStencil stencil(int rank, int k) const {
    PointStencil result;
    result.count = k + 1;
    double rest = 1.0;
    for (int a = 0; a <= k; ++a) {
      const auto at = static_cast<std::size_t>(a);
      result.nodes[at] = {(rank + a) % ranks_, (2 * k + a) % nodes_a_rank};
      result.weights[at] = a == k ? rest : 0.3 + 0.1 * rank - 0.2 * a;
      rest -= result.weights[at];
    }
    return result;
  }
  Field wave(const char* name, const std::shared_ptr<const Entities>& on, double phase) const {
    Field field(name, on, 3);
    std::vector<double> values(field.size(), 0.0);
    for (std::size_t i = 0; i < field.owned_size(); ++i)
      values[i] = std::sin(1.3 * static_cast<double>(i) + 0.7 * rank_ + phase);
    field.from_host(values);
    if (on->exchange()) on->exchange()->copy_to_ghosts(field);
    return field;
  }
  static double dot(const Field& x, const Field& y) {
    double sum = local_dot(x, y);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }

  int rank_ = 0, ranks_ = 1;
  std::shared_ptr<const Entities> nodes_, points_;
  std::vector<PointStencil> stencils_;
  std::unique_ptr<PointMap> map_;
};

TEST_F(PointMapTest, sums_nodes_of_any_rank) {
  const Field q = wave("q", nodes_, 0.0);
  Field x = wave("x", points_, 1.0);
  map_->apply(q, x);
  const std::vector<double> found = x.to_host();
  for (std::size_t p = 0; p < stencils_.size(); ++p)
    for (std::size_t c = 0; c < 3; ++c) {
      double expected = 0.0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(stencils_[p].count); ++k) {
        const VertexLocation& node = stencils_[p].nodes[k];
        expected +=
            stencils_[p].weights[k] * std::sin(1.3 * (3.0 * node.index + static_cast<double>(c)) + 0.7 * node.rank);
      }
      EXPECT_NEAR(found[3 * p + c], expected, 1e-15);
    }
}

TEST_F(PointMapTest, transposed_is_the_adjoint) {
  const Field q = wave("q", nodes_, 0.3);
  Field x(points_->name(), points_, 3), shares = wave("f", points_, 2.0), zero = q.like("sum");
  map_->apply(q, x);
  // Sum over all local points including copies, since forces on copies are contributions, too.
  double expected = 0.0;
  const std::vector<double> a = x.to_host(), b = shares.to_host();
  for (std::size_t i = 0; i < a.size(); ++i) expected += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &expected, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  map_->add_transpose(shares, zero);
  EXPECT_NEAR(dot(q, zero), expected, 1e-13);
  // A second call adds to the first result.
  map_->add_transpose(shares, zero);
  EXPECT_NEAR(dot(q, zero), 2.0 * expected, 1e-13);
}

TEST_F(PointMapTest, matrices_are_mapped_from_both_sides) {
  const auto num_points = static_cast<int>(points_->local());
  const NumberedStencils numbered(stencils_, rank_, nodes_a_rank);
  Couplings of_points;
  of_points.add({0, 1, 2, 1, 2, 3}, 3);
  if (num_points > points_a_rank) of_points.add({3, points_a_rank, 0, points_a_rank + 1}, 2);
  BlockMatrix K(num_points, of_points);
  std::vector<double> values(9 * static_cast<std::size_t>(K.num_blocks()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(0.9 * static_cast<double>(i) + rank_);
  Kokkos::deep_copy(DeviceSpan<double>(K.values(), values.size()), to_device("values", values));

  Couplings of_nodes;
  add_couplings_of_points(of_points, numbered, of_nodes);
  const int num_nodes = nodes_a_rank + static_cast<int>(numbered.copies.size());
  BlockMatrix mapped(num_nodes, of_nodes);
  PointMatrixMap map(K, numbered, mapped);
  EXPECT_TRUE(map.fits(K, mapped));
  EXPECT_FALSE(map.fits(K, BlockMatrix(num_nodes, of_nodes)));
  map.add(K, mapped);
  map.add(K, mapped);

  // Compares y = Wᵀ K W q with the product of the mapped matrix. Only this rank takes part, and its nodes include
  // copies.
  Field q("q", static_cast<std::size_t>(num_nodes), 3);
  std::vector<double> at_nodes(q.size());
  for (std::size_t i = 0; i < at_nodes.size(); ++i) at_nodes[i] = std::sin(0.7 * static_cast<double>(i) - rank_);
  q.from_host(at_nodes);
  Field x("x", static_cast<std::size_t>(num_points), 3);
  std::vector<double> at_points(x.size(), 0.0);
  for (int p = 0; p < num_points; ++p)
    for (int i = numbered.begin[static_cast<std::size_t>(p)]; i < numbered.begin[static_cast<std::size_t>(p) + 1]; ++i)
      for (int c = 0; c < 3; ++c)
        at_points[static_cast<std::size_t>(3 * p + c)] +=
            numbered.weights[static_cast<std::size_t>(i)] *
            at_nodes[static_cast<std::size_t>(3 * numbered.nodes[static_cast<std::size_t>(i)] + c)];
  x.from_host(at_points);
  Field f = x.like("f"), y = q.like("y");
  K.multiply(x, f);
  mapped.multiply(q, y);
  std::vector<double> expected(q.size(), 0.0);
  const std::vector<double> forces = f.to_host(), found = y.to_host();
  for (int p = 0; p < num_points; ++p)
    for (int i = numbered.begin[static_cast<std::size_t>(p)]; i < numbered.begin[static_cast<std::size_t>(p) + 1]; ++i)
      for (int c = 0; c < 3; ++c)
        expected[static_cast<std::size_t>(3 * numbered.nodes[static_cast<std::size_t>(i)] + c)] +=
            numbered.weights[static_cast<std::size_t>(i)] * forces[static_cast<std::size_t>(3 * p + c)];
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], 2.0 * expected[i], 1e-13);
}

TEST_F(PointMapTest, needs_a_stencil_for_each_point_and_a_place_for_each_block) {
  stencils_.pop_back();
  EXPECT_THROW(PointMap(nodes_, points_, stencils_), Error);
  stencils_.push_back(stencil(rank_, 3));
  const NumberedStencils numbered(stencils_, rank_, nodes_a_rank);
  Couplings of_points;
  of_points.add({0, 1, 2}, 3);
  const BlockMatrix K(static_cast<int>(points_->local()), of_points);
  const BlockMatrix diagonal(nodes_a_rank + static_cast<int>(numbered.copies.size()), Couplings());
  EXPECT_THROW(PointMatrixMap(K, numbered, diagonal), Error);
}

}  // namespace
}  // namespace diffsim::point_map_test
