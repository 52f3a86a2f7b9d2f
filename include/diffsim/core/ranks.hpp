// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace diffsim {

/// Returns the rank of this process in the communicator.
int rank_of(MPI_Comm comm);
/// Returns the number of ranks in the communicator.
int num_ranks(MPI_Comm comm);
/// Returns true if this process has rank 0 in the communicator.
bool is_first_rank(MPI_Comm comm);
/// Returns the sum of the ranks' contributions, on every rank. Collective.
double sum_over_ranks(double share, MPI_Comm comm);
std::int64_t sum_over_ranks(std::int64_t share, MPI_Comm comm);

}  // namespace diffsim
