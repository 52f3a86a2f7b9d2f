// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/box_tree_impl.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "contact_testing.hpp"

namespace diffsim::contact::box_tree_test {
namespace {

struct KeepAll {
  KOKKOS_INLINE_FUNCTION bool operator()(int, int) const { return true; }
};
struct KeepLater {
  KOKKOS_INLINE_FUNCTION bool operator()(int query, int leaf) const { return query < leaf; }
};

std::vector<Box> random_boxes(QuadSource& source, int n, double size) {
  std::vector<Box> boxes(static_cast<std::size_t>(n));
  for (Box& box : boxes) {
    const Vec3<double> p = source.point(1.0);
    for (int c = 0; c < 3; ++c) {
      box.low[c] = p[c];
      box.high[c] = p[c] + size * source.uniform(0.0, 1.0);
    }
  }
  return boxes;
}

template <class Keep>
std::vector<CandidatePair> pairs_of(const std::vector<Box>& leaves, const std::vector<Box>& queries, const Keep& keep) {
  const BoxTree tree(to_device("leaves", leaves));
  const auto found = find_pairs(tree, to_device("queries", queries), keep, 1 << 30, "tests");
  const auto host = host_view(found);
  return {host.data(), host.data() + host.size()};
}

template <class Keep>
void expect_all(const std::vector<Box>& leaves, const std::vector<Box>& queries, const Keep& keep) {
  std::vector<CandidatePair> expected;
  for (int q = 0; q < static_cast<int>(queries.size()); ++q)
    for (int l = 0; l < static_cast<int>(leaves.size()); ++l)
      if (queries[static_cast<std::size_t>(q)].overlaps(leaves[static_cast<std::size_t>(l)]) && keep(q, l))
        expected.push_back({q, l});
  const std::vector<CandidatePair> found = pairs_of(leaves, queries, keep);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].query, expected[i].query);
    EXPECT_EQ(found[i].leaf, expected[i].leaf);
  }
}

TEST(box_tree, finds_every_overlap_in_order) {
  QuadSource source(21);
  for (const int n : {0, 1, 2, 3, 7, 64, 500, 1500})
    for (const double size : {0.02, 0.3}) {
      const std::vector<Box> leaves = random_boxes(source, n, size);
      expect_all(leaves, random_boxes(source, 200, size), KeepAll());
      expect_all(leaves, leaves, KeepLater());
    }
}

TEST(box_tree, copes_with_equal_flat_and_distant_boxes) {
  QuadSource source(22);
  // all equal
  std::vector<Box> boxes(300, Box{{1, 2, 3}, {2, 3, 4}});
  expect_all(boxes, boxes, KeepLater());
  // points on a plane, many of them equal, one far away
  boxes = random_boxes(source, 400, 0.0);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (int c = 0; c < 2; ++c) boxes[i].low[c] = boxes[i].high[c] = std::floor(4.0 * boxes[i].low[c]);
    boxes[i].low[2] = boxes[i].high[2] = 0.0;
  }
  boxes[17] = {{1e12, 1e12, 1e12}, {1e12, 1e12, 1e12}};
  expect_all(boxes, boxes, KeepLater());
}

TEST(box_tree, refuses_more_pairs_than_allowed_and_says_how_many) {
  const std::vector<Box> boxes(100, Box{{0, 0, 0}, {1, 1, 1}});
  const BoxTree tree(to_device("leaves", boxes));
  try {
    find_pairs(tree, to_device("queries", boxes), KeepAll(), 9999, "edges");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("10000 pairs of edges"), std::string::npos) << error.what();
    EXPECT_EQ(error.kind(), ErrorKind::system);
  }
}

TEST(box_tree, takes_little_memory) {
  QuadSource source(23);
  const BoxTree tree(to_device("leaves", random_boxes(source, 10000, 0.01)));
  EXPECT_LE(tree.bytes(), 60u * 10000u);
}

}  // namespace
}  // namespace diffsim::contact::box_tree_test
