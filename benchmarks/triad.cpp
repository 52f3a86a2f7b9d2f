// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "triad.hpp"

#include <mpi.h>

#include "diffsim/core/device.hpp"

namespace diffsim {
namespace {

void triad_kernel(const DeviceArray<double>& a, const DeviceArray<double>& b, const DeviceArray<double>& c) {
  Kokkos::parallel_for(
      "diffsim::benchmark::triad", Range(0, static_cast<int>(a.size())),
      KOKKOS_LAMBDA(int i) { a(i) = b(i) + 3.0 * c(i); });
  Kokkos::fence();
}

}  // namespace

void triad(benchmark::State& bench) {
  constexpr int size = 40000000;
  const DeviceArray<double> a("a", size), b("b", size), c("c", size);
  for (auto _ : bench) triad_kernel(a, b, c);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bench.SetBytesProcessed(bench.iterations() * std::int64_t{24} * size * ranks);
}

}  // namespace diffsim
