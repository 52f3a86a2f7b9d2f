// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim::contact {

/// Sends `to[r]` to each rank r; returns what each rank sent here. Collective.
template <class T>
std::vector<std::vector<T>> exchange_all(MPI_Comm comm, const std::vector<std::vector<T>>& to) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t ranks = to.size();
  std::vector<int> send(ranks), receive(ranks), send_begin(ranks), receive_begin(ranks);
  std::vector<T> outgoing;
  for (std::size_t r = 0; r < ranks; ++r) {
    send_begin[r] = static_cast<int>(outgoing.size());
    send[r] = static_cast<int>(to[r].size());
    outgoing.insert(outgoing.end(), to[r].begin(), to[r].end());
  }
  DIFFSIM_MPI(MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, comm));
  std::exclusive_scan(receive.begin(), receive.end(), receive_begin.begin(), 0);
  std::vector<T> incoming(static_cast<std::size_t>(receive_begin.back() + receive.back()));
  MPI_Datatype unit = MPI_DATATYPE_NULL;
  DIFFSIM_MPI(MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &unit));
  DIFFSIM_MPI(MPI_Type_commit(&unit));
  DIFFSIM_MPI(MPI_Alltoallv(outgoing.data(), send.data(), send_begin.data(), unit, incoming.data(), receive.data(),
                            receive_begin.data(), unit, comm));
  DIFFSIM_MPI(MPI_Type_free(&unit));
  std::vector<std::vector<T>> from(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    from[r].assign(incoming.begin() + receive_begin[r], incoming.begin() + receive_begin[r] + receive[r]);
  return from;
}

}  // namespace diffsim::contact
