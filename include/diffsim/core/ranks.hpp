// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace diffsim {

/// Number of this process in the communicator.
int rank_of(MPI_Comm comm);
/// Number of processes in the communicator.
int num_ranks(MPI_Comm comm);
/// Whether this process has number 0 in the communicator.
bool is_first_rank(MPI_Comm comm);
/// Sum of the ranks' shares, on every rank. Collective.
double sum_over_ranks(double share, MPI_Comm comm);
std::int64_t sum_over_ranks(std::int64_t share, MPI_Comm comm);

}  // namespace diffsim
