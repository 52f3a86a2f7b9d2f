// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/ranks.hpp"

namespace diffsim {

/// Sends each of `items` to the rank that `destination(item)` names; returns what this rank gets, by rank of origin and
/// in the order there. Collective.
template <class Item, class Destination>
std::vector<Item> exchange(MPI_Comm comm, const std::vector<Item>& items, const Destination& destination) {
  static_assert(std::is_trivially_copyable_v<Item>);
  const int ranks = num_ranks(comm);
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<int> to(items.size()), send_count(n, 0), send_begin(n, 0), receive_count(n, 0), receive_begin(n, 0);
  std::vector<Item> sent(items.size());
  collectively(comm, [&] {
    if (items.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw Error("more than 2^31 items to exchange on one rank; use more ranks", ErrorKind::system);
    for (std::size_t i = 0; i < items.size(); ++i)
      ++send_count[static_cast<std::size_t>(to[i] = destination(items[i]))];
    std::exclusive_scan(send_count.begin(), send_count.end(), send_begin.begin(), 0);
    std::vector<int> next = send_begin;
    for (std::size_t i = 0; i < items.size(); ++i)
      sent[static_cast<std::size_t>(next[static_cast<std::size_t>(to[i])]++)] = items[i];
  });
  DIFFSIM_MPI(MPI_Alltoall(send_count.data(), 1, MPI_INT, receive_count.data(), 1, MPI_INT, comm));
  std::vector<Item> received;
  collectively(comm, [&] {
    const std::int64_t total = std::accumulate(receive_count.begin(), receive_count.end(), std::int64_t{0});
    if (total > std::numeric_limits<int>::max())
      throw Error("more than 2^31 items to exchange on one rank; use more ranks", ErrorKind::system);
    received.resize(static_cast<std::size_t>(total));
  });
  std::exclusive_scan(receive_count.begin(), receive_count.end(), receive_begin.begin(), 0);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  DIFFSIM_MPI(MPI_Type_contiguous(static_cast<int>(sizeof(Item)), MPI_BYTE, &type));
  DIFFSIM_MPI(MPI_Type_commit(&type));
  const int code = MPI_Alltoallv(sent.data(), send_count.data(), send_begin.data(), type, received.data(),
                                 receive_count.data(), receive_begin.data(), type, comm);
  MPI_Type_free(&type);
  DIFFSIM_MPI(code);
  return received;
}

}  // namespace diffsim
