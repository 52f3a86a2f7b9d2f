// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/redistribute.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/ranks.hpp"

namespace diffsim {
namespace {

struct Item {
  std::int32_t from, number, to;
};

TEST(redistribute, sends_each_item_to_its_rank_in_order) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  // Rank r has 5 r items; every third of them goes to rank 0, the others to its neighbour.
  std::vector<Item> items;
  for (int i = 0; i < 5 * rank; ++i) items.push_back({rank, i, i % 3 == 0 ? 0 : (rank + 1) % ranks});
  const std::vector<Item> received =
      redistribute(MPI_COMM_WORLD, items, [](const Item& item) { return static_cast<int>(item.to); });
  std::vector<Item> expected;
  for (int from = 0; from < ranks; ++from)
    for (int i = 0; i < 5 * from; ++i)
      if ((i % 3 == 0 ? 0 : (from + 1) % ranks) == rank) expected.push_back({from, i, rank});
  ASSERT_EQ(received.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(received[i].from, expected[i].from);
    EXPECT_EQ(received[i].number, expected[i].number);
    EXPECT_EQ(received[i].to, rank);
  }
}

TEST(redistribute, sends_nothing_where_there_is_nothing) {
  EXPECT_TRUE(redistribute(MPI_COMM_WORLD, std::vector<Item>(), [](const Item&) { return 0; }).empty());
}

TEST(redistribute, throws_on_every_rank_what_one_throws) {
  const std::vector<int> items{rank_of(MPI_COMM_WORLD)};
  EXPECT_THROW(redistribute(MPI_COMM_WORLD, items,
                            [](int rank) {
                              if (rank == 0) throw Error("no place for this one");
                              return rank;
                            }),
               Error);
}

}  // namespace
}  // namespace diffsim
