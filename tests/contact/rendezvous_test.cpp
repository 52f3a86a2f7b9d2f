// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/rendezvous.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "diffsim/core/runtime.hpp"

namespace diffsim::contact::rendezvous_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_same(const Box& a, const Box& b) {
  bool yes = true;
  for (int c = 0; c < 3; ++c) yes = yes && a.low[c] == b.low[c] && a.high[c] == b.high[c];
  return yes;
}

bool overlaps_any(const Box& box, const std::vector<Box>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Box& other) { return box.overlaps(other); });
}

/// Generator of cubes of several sizes at positions in [-1, 1]³.
class Cubes {
 public:
  explicit Cubes(int seed) : generator_(static_cast<unsigned>(seed)) {}

  double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator_); }
  Box of_size(double size) {
    Box box;
    for (int c = 0; c < 3; ++c) {
      box.low[c] = between(-1.0, 1.0);
      box.high[c] = box.low[c] + size;
    }
    return box;
  }
  std::vector<Box> alike(int count) {
    std::vector<Box> boxes;
    for (int i = 0; i < count; ++i) boxes.push_back(of_size(between(0.05, 0.1)));
    return boxes;
  }

 private:
  std::mt19937 generator_;
};

/// Returns the boxes of all ranks, by rank.
std::vector<std::vector<Box>> of_all(const std::vector<Box>& mine) {
  const int ranks = num_ranks(MPI_COMM_WORLD);
  std::vector<std::vector<Box>> all(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    auto& boxes = all[static_cast<std::size_t>(r)];
    if (r == rank_of(MPI_COMM_WORLD)) boxes = mine;
    auto count = static_cast<int>(boxes.size());
    MPI_Bcast(&count, 1, MPI_INT, r, MPI_COMM_WORLD);
    boxes.resize(static_cast<std::size_t>(count));
    MPI_Bcast(boxes.data(), count * static_cast<int>(sizeof(Box)), MPI_BYTE, r, MPI_COMM_WORLD);
  }
  return all;
}

/// Compares the boxes that this rank receives with a search over all boxes of all ranks.
void expect_as_all_against_all(const std::vector<Box>& mine) {
  const std::vector<std::vector<Box>> all = of_all(mine);
  const std::vector<Neighbour> found = rendezvous(MPI_COMM_WORLD, mine);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LT(found[i - 1].rank, found[i].rank);
  for (int r = 0; r < num_ranks(MPI_COMM_WORLD); ++r) {
    const auto there = std::find_if(found.begin(), found.end(), [&](const Neighbour& n) { return n.rank == r; });
    const std::vector<Box> told = there == found.end() ? std::vector<Box>() : there->boxes;
    if (r == rank_of(MPI_COMM_WORLD)) {
      EXPECT_TRUE(told.empty());
      continue;
    }
    std::vector<Box> expected;
    for (const Box& box : all[static_cast<std::size_t>(r)])
      if (box.low[0] <= box.high[0] && overlaps_any(box, mine)) expected.push_back(box);
    ASSERT_EQ(told.size(), expected.size()) << "boxes of rank " << r;
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(is_same(told[i], expected[i]));
  }
}

TEST(rendezvous, finds_what_all_against_all_finds) {
  for (int seed = 0; seed < 20; ++seed) {
    Cubes cubes(100 * seed + rank_of(MPI_COMM_WORLD));
    expect_as_all_against_all(cubes.alike(20 + 10 * seed));
  }
}

TEST(rendezvous, finds_boxes_far_larger_than_others) {
  for (int seed = 0; seed < 20; ++seed) {
    Cubes cubes(100 * seed + rank_of(MPI_COMM_WORLD));
    std::vector<Box> boxes = cubes.alike(100);
    for (int i = 0; i < 3; ++i) boxes.push_back(cubes.of_size(std::exp2(cubes.between(-3.0, 9.0))));
    expect_as_all_against_all(boxes);
  }
}

TEST(rendezvous, finds_few_boxes_of_every_size) {
  for (int seed = 0; seed < 50; ++seed) {
    Cubes cubes(100 * seed + rank_of(MPI_COMM_WORLD));
    std::vector<Box> boxes;
    for (int i = 0; i < 8; ++i) boxes.push_back(cubes.of_size(std::exp2(cubes.between(-30.0, 2.0))));
    expect_as_all_against_all(boxes);
  }
}

TEST(rendezvous, bears_unbounded_empty_and_far_boxes) {
  const int rank = rank_of(MPI_COMM_WORLD);
  Cubes cubes(rank);
  std::vector<Box> boxes = cubes.alike(50);
  boxes.push_back({{1.0, 1.0, 1.0}, {-1.0, -1.0, -1.0}});
  if (rank == 0) boxes.push_back({{-infinity, 0.0, 0.0}, {infinity, 0.1, 0.1}});
  if (rank == 1) boxes.push_back({{-infinity, -infinity, -infinity}, {infinity, infinity, infinity}});
  boxes.push_back({{1e300, 0.0, 0.0}, {1e300, 0.0, 0.0}});
  boxes.push_back({{1e15, 0.0, 0.0}, {1e15 + 1.0, 1.0, 1.0}});
  boxes.push_back({{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}});
  expect_as_all_against_all(boxes);
}

TEST(rendezvous, finds_nothing_where_there_is_nothing) {
  EXPECT_TRUE(rendezvous(MPI_COMM_WORLD, {}).empty());
  const int rank = rank_of(MPI_COMM_WORLD);
  Cubes cubes(7);
  // Boxes on one rank only; then boxes of different ranks that are separate.
  EXPECT_TRUE(rendezvous(MPI_COMM_WORLD, rank == 0 ? cubes.alike(70) : std::vector<Box>()).empty());
  const double at = 3.0 * rank;
  EXPECT_TRUE(rendezvous(MPI_COMM_WORLD, {{{at, 0.0, 0.0}, {at + 1.0, 1.0, 1.0}}}).empty());
}

TEST(rendezvous, counts_boxes_that_touch) {
  const int rank = rank_of(MPI_COMM_WORLD);
  const double at = rank;
  expect_as_all_against_all({{{at, 0.0, 0.0}, {at + 1.0, 1.0, 1.0}}});
  expect_as_all_against_all(std::vector<Box>(100, {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}}));
}

}  // namespace
}  // namespace diffsim::contact::rendezvous_test
