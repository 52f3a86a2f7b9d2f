// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/runtime.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  return rank;
}

int num_ranks(MPI_Comm comm) {
  int ranks = 1;
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  return ranks;
}

bool is_first_rank(MPI_Comm comm) { return rank_of(comm) == 0; }

double sum_over_ranks(double share, MPI_Comm comm) {
  double sum = 0.0;
  DIFFSIM_MPI(MPI_Allreduce(&share, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
  return sum;
}

std::int64_t sum_over_ranks(std::int64_t share, MPI_Comm comm) {
  std::int64_t sum = 0;
  DIFFSIM_MPI(MPI_Allreduce(&share, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
  return sum;
}

}  // namespace diffsim
