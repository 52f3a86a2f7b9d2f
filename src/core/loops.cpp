// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/loops_impl.hpp"

namespace diffsim {

void run_loop(const char* label, int count, const LoopWork& work) {
  Kokkos::parallel_for(label, Range(0, count), work);
}

void run_chunks(const char* label, int count, const LoopWork& work) {
  Kokkos::parallel_for(label, ThreadRange(0, count), work);
}

double run_sum(const char* label, int count, const SumWork& work) {
  double sum = 0.0;
  Kokkos::parallel_reduce(label, Range(0, count), work, sum);
  return sum;
}

}  // namespace diffsim
