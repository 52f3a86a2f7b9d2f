// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/redistribute.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/runtime.hpp"

namespace diffsim::redistribute_test {
namespace {

struct Item {
  std::int32_t from, number, to;
};

TEST(redistribute, sends_each_item_to_its_rank_in_order) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  // Rank r has 5 r items. Every third item is sent to rank 0, the others to the next rank.
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

TEST(redistribute, orders_by_rank_what_comes_from_all) {
  const std::int32_t rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  std::vector<Item> items;
  for (std::int32_t to = 0; to < ranks; ++to) items.push_back({rank, 10 * to, to});
  const auto received = redistribute(MPI_COMM_WORLD, items, [](const Item& item) { return static_cast<int>(item.to); });
  ASSERT_EQ(received.size(), static_cast<std::size_t>(ranks));
  for (std::int32_t from = 0; from < ranks; ++from) {
    EXPECT_EQ(received[static_cast<std::size_t>(from)].from, from);
    EXPECT_EQ(received[static_cast<std::size_t>(from)].number, 10 * rank);
  }
}

TEST(redistribute, keeps_calls_apart) {
  // Ranks are not synchronised: some send many items, others few or none, and all call again immediately.
  const int rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  for (std::int32_t round = 0; round < 200; ++round) {
    const int count = (round + rank) % 3 == 0 ? 20000 : (round + rank) % 3;
    const std::vector<Item> items(static_cast<std::size_t>(count), Item{rank, round, (rank + 1) % ranks});
    const auto received =
        redistribute(MPI_COMM_WORLD, items, [](const Item& item) { return static_cast<int>(item.to); });
    const int before = (rank + ranks - 1) % ranks;
    ASSERT_EQ(received.size(), (round + before) % 3 == 0 ? 20000u : static_cast<unsigned>((round + before) % 3));
    for (const Item& item : received) ASSERT_TRUE(item.from == before && item.number == round && item.to == rank);
  }
}

TEST(redistribute, works_between_those_who_know_each_other) {
  // Each rank communicates with its two neighbours: in both directions, or only from the lower rank to the higher one.
  // Even ranks have nothing to send.
  const std::int32_t rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  for (std::int32_t round = 0; round < 100; ++round) {
    std::vector<int> receivers, senders;
    for (std::int32_t other = 0; other < ranks; ++other) {
      if (other == rank || ((other + 1) % ranks != rank && (rank + 1) % ranks != other)) continue;
      if (round % 2 == 0 || rank < other) receivers.push_back(other);
      if (round % 2 == 0 || other < rank) senders.push_back(other);
    }
    const auto has = [&](std::int32_t from) { return from % 2 == 0 ? 0 : round; };
    std::vector<Item> items, expected;
    for (std::int32_t number = 0; number < has(rank); ++number)
      for (auto to = receivers.rbegin(); to != receivers.rend(); ++to) items.push_back({rank, number, *to});
    for (const int from : senders)
      for (std::int32_t number = 0; number < has(from); ++number) expected.push_back({from, number, rank});
    const std::vector<Item> received = redistribute_among(MPI_COMM_WORLD, receivers, senders, items,
                                                          [](const Item& item) { return static_cast<int>(item.to); });
    ASSERT_EQ(received.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_TRUE(received[i].from == expected[i].from && received[i].number == expected[i].number &&
                  received[i].to == rank);
  }
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
}  // namespace diffsim::redistribute_test
