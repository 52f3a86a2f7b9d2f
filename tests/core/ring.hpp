// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::testing_core {

/// Entities of a ring of ranks. Rank r owns `base` + r entities. Global numbers increase from rank to rank and decrease
/// within a rank. Each rank has copies of the last two entities of the next rank and of the first entity of the
/// previous rank.
struct Ring {
  Ring(int base, std::int64_t generation) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int rank = rank_of(comm), ranks = num_ranks(comm);
    const auto count = [&](int r) { return base + r; };
    const auto first = [&](int r) { return base * r + r * (r - 1) / 2; };
    const auto place = [&](int r, int i) { return first(r) + count(r) - 1 - i; };
    std::vector<std::int64_t> places;
    for (int i = 0; i < count(rank); ++i) places.push_back(place(rank, i));
    std::vector<PetscInt> owner, index;
    const auto copy = [&](int r, int i) {
      owner.push_back(r);
      index.push_back(i);
      places.push_back(place(r, i));
    };
    if (ranks > 1) {
      const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
      copy(next, count(next) - 2);
      copy(next, count(next) - 1);
      copy(previous, 0);
    }
    exchange = std::make_shared<const Exchange>(comm, count(rank), owner, index);
    order = std::make_shared<const FileOrder>(comm, first(ranks), places, count(rank));
    all = std::make_shared<const Entities>("beads", comm, static_cast<std::size_t>(count(rank)), order, exchange,
                                           generation);
  }

  std::int64_t place(std::size_t local) const { return order->file_index()[local]; }

  std::shared_ptr<const Exchange> exchange;
  std::shared_ptr<const FileOrder> order;
  std::shared_ptr<const Entities> all;
};

}  // namespace diffsim::testing_core
