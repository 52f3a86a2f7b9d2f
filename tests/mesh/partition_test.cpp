// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/partition.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "diffsim/mesh/construction.hpp"
#include "mesh/dual_graph.hpp"

namespace diffsim::partition_test {
namespace {

constexpr std::array<double, 3> box_size{12.0, 4.0, 4.0};
constexpr std::array<int, 3> bricks{12, 4, 4};
constexpr std::int64_t num_cells = std::int64_t{12} * 4 * 4 * 6;

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Returns this rank's block of the box.
MeshData block() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return box_mesh(box_size, bricks, rank, world_size());
}

std::vector<PetscInt> corners_of(const MeshData& data) { return {data.cells.begin(), data.cells.end()}; }

/// Returns the neighbours of each cell of the whole box, by comparing all pairs of cells.
std::vector<std::set<PetscInt>> neighbours_by_comparison() {
  const MeshData all = box_mesh(box_size, bricks, 0, 1);
  std::vector<std::set<std::int64_t>> cells;
  for (std::size_t c = 0; c < all.cells.size(); c += 4) cells.emplace_back(&all.cells[c], &all.cells[c] + 4);
  std::vector<std::set<PetscInt>> result(cells.size());
  for (std::size_t a = 0; a < cells.size(); ++a)
    for (std::size_t b = 0; b < cells.size(); ++b)
      if (std::count_if(cells[a].begin(), cells[a].end(), [&](std::int64_t v) { return cells[b].count(v) > 0; }) == 3)
        result[a].insert(static_cast<PetscInt>(b));
  return result;
}

TEST(dual_graph, joins_cells_with_a_common_face_and_no_others) {
  const MeshData data = block();
  const DualGraph graph = dual_graph(MPI_COMM_WORLD, corners_of(data), data.num_vertices);
  const std::vector<std::set<PetscInt>> expected = neighbours_by_comparison();
  ASSERT_EQ(graph.begin.size(), static_cast<std::size_t>(data.block_cells()) + 1);
  ASSERT_EQ(graph.neighbours.size(), static_cast<std::size_t>(graph.begin.back()));
  for (std::size_t c = 0; c + 1 < graph.begin.size(); ++c) {
    const std::vector<PetscInt> found(graph.neighbours.begin() + graph.begin[c],
                                      graph.neighbours.begin() + graph.begin[c + 1]);
    const std::set<PetscInt>& wanted = expected[static_cast<std::size_t>(data.first_cell) + c];
    EXPECT_EQ(found.size(), wanted.size()) << "a neighbour is there once";
    EXPECT_EQ(std::set<PetscInt>(found.begin(), found.end()), wanted);
  }
}

TEST(dual_graph, a_face_of_three_cells_joins_two_of_them) {
  // Three cells with the common face 0 1 2, all on the last rank.
  std::vector<PetscInt> corners;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == world_size() - 1) corners = {0, 1, 2, 3, 0, 2, 1, 4, 0, 1, 2, 5};
  const DualGraph graph = dual_graph(MPI_COMM_WORLD, corners, 6);
  EXPECT_EQ(graph.neighbours.size(), corners.empty() ? 0u : 2u);
  for (std::size_t c = 0; c + 1 < graph.begin.size(); ++c)
    for (PetscInt i = graph.begin[c]; i < graph.begin[c + 1]; ++i) {
      const auto other = static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(i)]);
      EXPECT_EQ(graph.neighbours[static_cast<std::size_t>(graph.begin[other])], static_cast<PetscInt>(c));
    }
}

/// Greatest number of cells for which a single rank computes the partition: with `num_cells` one rank does, with 0 all
/// ranks do.
class Partitioned : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(partition, Partitioned, testing::Values(num_cells, 0));

TEST_P(Partitioned, every_cell_is_on_one_rank_and_parts_are_even) {
  const std::vector<std::int64_t> cells = partition_cells(MPI_COMM_WORLD, block(), GetParam()).cells;
  EXPECT_TRUE(std::is_sorted(cells.begin(), cells.end()));
  std::vector<int> count(num_cells, 0);
  for (const std::int64_t cell : cells) ++count[static_cast<std::size_t>(cell)];
  MPI_Allreduce(MPI_IN_PLACE, count.data(), static_cast<int>(num_cells), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(count, std::vector<int>(num_cells, 1));
  const double share = static_cast<double>(num_cells) / world_size();
  EXPECT_NEAR(static_cast<double>(cells.size()), share, 0.02 * share);
}

TEST_P(Partitioned, few_faces_are_cut) {
  const std::vector<std::int64_t> cells = partition_cells(MPI_COMM_WORLD, block(), GetParam()).cells;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> owner(num_cells, 0);
  for (const std::int64_t cell : cells) owner[static_cast<std::size_t>(cell)] = rank;
  MPI_Allreduce(MPI_IN_PLACE, owner.data(), static_cast<int>(num_cells), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const std::vector<std::set<PetscInt>> neighbours = neighbours_by_comparison();
  int cut = 0;
  for (std::size_t c = 0; c < neighbours.size(); ++c)
    for (const PetscInt other : neighbours[c]) cut += owner[c] < owner[static_cast<std::size_t>(other)];
  const int straight = 2 * bricks[1] * bricks[2];  // a straight cut across the long axis
  EXPECT_LE(cut, 2 * straight * (world_size() - 1));
  if (world_size() > 1) {
    EXPECT_GE(cut, straight / 2);
  }
}

/// The partition is computed by one rank. PTScotch on several ranks does not guarantee equal results of equal runs.
TEST(partition, equal_runs_give_equal_parts) {
  const std::vector<std::int64_t> first = partition_cells(MPI_COMM_WORLD, block(), num_cells).cells;
  EXPECT_EQ(partition_cells(MPI_COMM_WORLD, block(), num_cells).cells, first);
}

}  // namespace
}  // namespace diffsim::partition_test
