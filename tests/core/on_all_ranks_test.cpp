// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/on_all_ranks.hpp"

#include <gtest/gtest.h>

#include <array>

namespace diffsim::on_all_ranks_test {
namespace {

TEST(on_all_ranks, has_the_values_of_all_in_the_order_of_ranks) {
  // Rank r has r pairs, so rank 0 has no pair.
  const int rank = rank_of(MPI_COMM_WORLD);
  const std::vector<std::array<int, 2>> mine(static_cast<std::size_t>(rank), {rank, -rank});
  const auto all = on_all_ranks(MPI_COMM_WORLD, mine);
  std::vector<std::array<int, 2>> expected;
  for (int r = 0; r < num_ranks(MPI_COMM_WORLD); ++r)
    for (int i = 0; i < r; ++i) expected.push_back({r, -r});
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace diffsim::on_all_ranks_test
