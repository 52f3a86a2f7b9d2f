// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/elevate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/mesh/construction.hpp"

namespace diffsim::elevate_test {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

MeshData box_blocks(std::array<int, 3> cells) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return box_mesh({1.5, 1.0, 0.7}, cells, world_rank(), ranks);
}

/// Returns the values of all ranks, in the order of the ranks.
template <class T>
std::vector<T> joined(const std::vector<T>& mine) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> counts(static_cast<std::size_t>(ranks)), begins(counts.size(), 0);
  const int bytes = static_cast<int>(mine.size() * sizeof(T));
  MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < counts.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<T> all(static_cast<std::size_t>(begins.back() + counts.back()) / sizeof(T));
  MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

/// Returns the second-order mesh of a whole linear mesh, computed directly from the definition.
MeshData expected(const MeshData& linear) {
  MeshData mesh = linear;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> edges;
  for (std::size_t c = 0; c < linear.cells.size(); c += 4)
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < a; ++b) edges[std::minmax(linear.cells[c + a], linear.cells[c + b])] = 0;
  for (auto& [ends, number] : edges) {
    number = mesh.num_vertices++;
    for (std::size_t k = 0; k < 3; ++k)
      mesh.coordinates.push_back((linear.coordinates[3 * static_cast<std::size_t>(ends.first) + k] +
                                  linear.coordinates[3 * static_cast<std::size_t>(ends.second) + k]) /
                                 2);
  }
  mesh.cells.clear();
  constexpr std::size_t pairs[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
  for (std::size_t c = 0; c < linear.cells.size(); c += 4) {
    mesh.cells.insert(mesh.cells.end(), &linear.cells[c], &linear.cells[c] + 4);
    for (const auto& pair : pairs)
      mesh.cells.push_back(edges.at(std::minmax(linear.cells[c + pair[0]], linear.cells[c + pair[1]])));
  }
  mesh.order = 2;
  return mesh;
}

void expect_equal(const MeshData& blocks, const MeshData& whole) {
  EXPECT_EQ(blocks.order, 2);
  EXPECT_EQ(blocks.num_vertices, whole.num_vertices);
  EXPECT_EQ(blocks.num_cells, whole.num_cells);
  EXPECT_EQ(blocks.num_unused_vertices, whole.num_unused_vertices);
  EXPECT_EQ(joined(blocks.coordinates), whole.coordinates);
  EXPECT_EQ(joined(blocks.cells), whole.cells);
}

TEST(Elevate, DoesNotDependOnTheRanks) {
  for (const std::array<int, 3> cells : {std::array<int, 3>{1, 1, 1}, {3, 2, 4}}) {
    MeshData mesh = box_blocks(cells);
    const MeshData whole = expected(box_mesh({1.5, 1.0, 0.7}, cells, 0, 1));
    elevate(MPI_COMM_WORLD, mesh);
    expect_equal(mesh, whole);
    // The blocks of vertices differ by one vertex at most.
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    EXPECT_LE(std::abs(mesh.block_vertices() - mesh.num_vertices / ranks), 1);
    elevate(MPI_COMM_WORLD, mesh);  // a second call changes nothing
    expect_equal(mesh, whole);
  }
}

TEST(Elevate, TakesAMeshThatOneRankHasRead) {
  const MeshData linear = box_mesh({1.0, 1.0, 1.0}, {2, 3, 2}, 0, 1);
  MeshData mesh = linear;
  if (world_rank() > 0) {
    mesh = {};
    mesh.num_vertices = mesh.first_vertex = linear.num_vertices;
    mesh.num_cells = mesh.first_cell = linear.num_cells;
    mesh.regions = linear.regions;
  }
  elevate(MPI_COMM_WORLD, mesh);
  expect_equal(mesh, expected(linear));
}

/// Euler's formula for a ball of V vertices, E edges, F faces and C cells is V - E + F - C = 1. With B boundary faces,
/// F = 2 C + B/2.
TEST(Elevate, MakesAsManyVerticesAsThereAreEdges) {
  MeshData mesh = box_blocks({4, 3, 2});
  const std::int64_t vertices = mesh.num_vertices, cells = mesh.num_cells;
  const std::int64_t boundary = 2 * 2 * (4 * 3 + 3 * 2 + 2 * 4);
  elevate(MPI_COMM_WORLD, mesh);
  EXPECT_EQ(mesh.num_vertices, 2 * vertices + (4 * cells + boundary) / 2 - cells - 1);
}

TEST(Elevate, KeepsUnusedVerticesAndAddsToCurves) {
  MeshData mesh = box_blocks({2, 2, 1});
  // An additional last vertex that no cell uses, a region of the curve x = y = 0, and a region of points.
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ++mesh.num_vertices;
  mesh.num_unused_vertices = 1;
  if (world_rank() == ranks - 1) mesh.coordinates.insert(mesh.coordinates.end(), {9.0, 9.0, 9.0});
  mesh.regions.push_back({"curve", 1, 7});
  mesh.regions.push_back({"points", 0, 8});
  for (std::int64_t v = 0; v < mesh.block_vertices(); ++v) {
    const std::int64_t vertex = mesh.first_vertex + v;
    if (vertex == 0 || vertex == 9) {
      mesh.vertex_regions.push_back({vertex, 6});
      mesh.vertex_regions.push_back({vertex, 7});
    }
  }
  elevate(MPI_COMM_WORLD, mesh);
  EXPECT_EQ(mesh.num_unused_vertices, 1);
  for (const auto& entry : mesh.vertex_regions)
    EXPECT_TRUE(entry.vertex >= mesh.first_vertex && entry.vertex < mesh.first_vertex + mesh.block_vertices());
  std::set<std::pair<int, std::int64_t>> entries;
  const std::vector<double> coordinates = joined(mesh.coordinates);
  for (const auto& entry : joined(mesh.vertex_regions)) entries.emplace(entry.region, entry.vertex);
  ASSERT_EQ(entries.size(), 5u);
  const auto middle = static_cast<std::size_t>(std::next(entries.begin(), 2)->second);
  EXPECT_GE(middle, 19u);
  EXPECT_EQ(std::vector<double>(&coordinates[3 * middle], &coordinates[3 * middle] + 3),
            (std::vector<double>{0.0, 0.0, 0.35}));
  EXPECT_TRUE(entries.contains({7, 0}) && entries.contains({7, 9}));
  EXPECT_EQ(std::vector<double>(&coordinates[3 * 18], &coordinates[3 * 18] + 3), (std::vector<double>{9.0, 9.0, 9.0}));
}

}  // namespace
}  // namespace diffsim::elevate_test
