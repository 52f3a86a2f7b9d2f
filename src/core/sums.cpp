// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/sums_impl.hpp"

namespace diffsim {

double run_sum(const char* label, int count, const SumWork& work) {
  double sum = 0.0;
  Kokkos::parallel_reduce(label, Range(0, count), work, sum);
  return sum;
}

}  // namespace diffsim
