// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {

/// Contiguous part of `count` numbered items that belongs to this rank if the items are split evenly over the ranks.
/// Rank 0 has the items with the lowest numbers.
struct EvenShare {
  EvenShare(MPI_Comm comm, std::int64_t count) : EvenShare(rank_of(comm), num_ranks(comm), count) {}
  /// Overload of the constructor for rank `rank` of `ranks` ranks.
  EvenShare(int rank, int ranks, std::int64_t count) {
    each = count / ranks;
    rest = count % ranks;
    first = each * rank + std::min<std::int64_t>(rank, rest);
    size = each + (rank < rest ? 1 : 0);
  }
  /// Returns the rank whose part contains item `i`.
  int owner(std::int64_t i) const {
    const std::int64_t larger = rest * (each + 1);
    return static_cast<int>(i < larger ? i / (each + 1) : rest + (i - larger) / each);
  }

  std::int64_t first = 0;  ///< index of this rank's first item
  std::int64_t size = 0;   ///< number of this rank's items
  std::int64_t each = 0;   ///< number of items divided by the number of ranks, rounded down
  std::int64_t rest = 0;   ///< number of items modulo number of ranks; the first `rest` ranks have `each` + 1 items
};

}  // namespace diffsim
