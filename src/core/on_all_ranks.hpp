// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "core/contiguous_type.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {

/// Returns the values of all ranks, concatenated in the order of the ranks, on every rank. The total number of values
/// of all ranks must be at most 2³¹ - 1. Collective.
template <class T>
std::vector<T> on_all_ranks(MPI_Comm comm, const std::vector<T>& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const ContiguousType type(static_cast<int>(sizeof(T)), MPI_BYTE);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(num_ranks(comm))), begins;
  DIFFSIM_MPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  int total = 0;
  for (const int number : counts) {
    begins.push_back(total);
    total += number;
  }
  std::vector<T> all(static_cast<std::size_t>(total));
  DIFFSIM_MPI(MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), begins.data(), type, comm));
  return all;
}

}  // namespace diffsim
