// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/ranks.hpp"

namespace diffsim {

/// Values of all ranks, one rank's after the other's, on every rank: for small sets only. At most 2³¹ - 1 bytes in all.
/// Collective.
template <class T>
std::vector<T> on_all_ranks(MPI_Comm comm, const std::vector<T>& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const int bytes = static_cast<int>(mine.size() * sizeof(T));
  std::vector<int> sizes(static_cast<std::size_t>(num_ranks(comm))), begins(sizes.size(), 0);
  DIFFSIM_MPI(MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm));
  for (std::size_t r = 1; r < sizes.size(); ++r) begins[r] = begins[r - 1] + sizes[r - 1];
  std::vector<T> all(static_cast<std::size_t>(begins.back() + sizes.back()) / sizeof(T));
  DIFFSIM_MPI(MPI_Allgatherv(mine.data(), bytes, MPI_BYTE, all.data(), sizes.data(), begins.data(), MPI_BYTE, comm));
  return all;
}

}  // namespace diffsim
