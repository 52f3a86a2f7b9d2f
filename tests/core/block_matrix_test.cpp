// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/block_matrix.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"

namespace diffsim::block_matrix_test {
namespace {

/// Adds the block (1 + a) I + 10 b e₀e₂ᵀ for each pair of nodes (a, b) of each element, except for the copies that fill
/// the last pack.
struct AddBlocks {
  int num_elements;
  DIFFSIM_FUNCTION void operator()(int pack, const int*, const BlockSink& sink) const {
    for (int a = 0; a < sink.nodes; ++a)
      for (int b = 0; b < sink.nodes; ++b) {
        Mat3<Pack> block;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            block(i, j) = Pack(i == j ? 1.0 + a : i == 0 && j == 2 ? 10.0 * b : 0.0);
            for (int lane_index = 0; lane_index < pack_width; ++lane_index)
              if (pack * pack_width + lane_index >= num_elements) set_lane(block(i, j), lane_index, 0.0);
          }
        sink.add(a, b, block);
      }
  }
};

TEST(block_matrix, couples_what_it_was_told_to) {
  Couplings couplings;
  couplings.add({0, 2, 2, 3}, 2);
  const BlockMatrix matrix(5, couplings);
  EXPECT_EQ(matrix.row_begin(), (std::vector<int>{0, 2, 3, 6, 8, 9}));
  EXPECT_EQ(matrix.columns(), (std::vector<int>{0, 2, 1, 0, 2, 3, 2, 3, 4}));
  EXPECT_EQ(matrix.find(2, 3), 5);
  EXPECT_EQ(matrix.find(0, 3), -1);
  EXPECT_THROW(BlockScatter(matrix, {0, 3}, 2), Error);
  EXPECT_THROW(couplings.add({1, 2, 3}, 2), Error);
}

TEST(block_matrix, sums_elements_and_multiplies) {
  // A chain of triangles 0-1-2, 1-2-3, … Three triangles share each vertex, except at the ends.
  constexpr int n = 37;
  std::vector<int> elements;
  for (int e = 0; e < n; ++e) elements.insert(elements.end(), {e, e + 1, e + 2});
  Couplings couplings;
  couplings.add(elements, 3);
  BlockMatrix matrix(n + 2, couplings);
  const BlockScatter scatter(matrix, elements, 3);
  EXPECT_TRUE(scatter.fits(matrix));
  EXPECT_FALSE(scatter.fits(BlockMatrix(n + 2, couplings)));
  for (int repeat = 0; repeat < 2; ++repeat) {
    matrix.zero();
    for_each_element("diffsim::test::blocks", scatter, matrix, AddBlocks{n});
    const std::vector<double> values = matrix.to_host();
    // Vertex 5 is node 2 of element 3, node 1 of element 4 and node 0 of element 5. Vertices 5 and 6 are nodes 1 and 2
    // of element 4, and nodes 0 and 1 of element 5.
    const std::size_t diagonal = 9 * static_cast<std::size_t>(matrix.find(5, 5));
    EXPECT_EQ(values[diagonal], 3.0 + 2.0 + 1.0);
    EXPECT_EQ(values[diagonal + 2], 20.0 + 10.0 + 0.0);
    const std::size_t beside = 9 * static_cast<std::size_t>(matrix.find(5, 6));
    EXPECT_EQ(values[beside + 4], 2.0 + 1.0);
    EXPECT_EQ(values[beside + 2], 20.0 + 10.0);
    EXPECT_EQ(values[beside + 6], 0.0);
  }
  Field x("x", n + 2, 3), y("y", n + 2, 3);
  std::vector<double> ones(x.size(), 1.0);
  x.from_host(ones);
  matrix.multiply(x, y);
  // Row 5: the diagonal block contributes 6, the blocks of columns 4 and 6 contribute 3 + 2 and 2 + 1 (the number of
  // node 5 in each element, plus one), those of columns 3 and 7 contribute 3 and 1; in addition 10 b.
  EXPECT_EQ(y.to_host()[3 * 5 + 1], 6.0 + 5.0 + 3.0 + 3.0 + 1.0);
  EXPECT_EQ(y.to_host()[3 * 5], 18.0 + 10.0 * (3.0 + 1.0 + 3.0 + 0.0 + 2.0));
}

}  // namespace
}  // namespace diffsim::block_matrix_test
