// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "triad.hpp"

#include <mpi.h>

#include <algorithm>

#include "diffsim/core/impl/device.hpp"

namespace diffsim {
namespace {

void triad_kernel(const DeviceArray<double>& a, const DeviceArray<double>& b, const DeviceArray<double>& c) {
  Kokkos::parallel_for(
      "diffsim::benchmark::triad", Range(0, static_cast<int>(a.size())),
      KOKKOS_LAMBDA(int i) { a(i) = b(i) + 3.0 * c(i); });
  Kokkos::fence();
}

double seconds_of(const std::function<void()>& run) {
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime();
  run();
  seconds += MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

}  // namespace

std::function<void()> make_triad() {
  // The arrays are allocated like the arrays of the library: in huge pages, if the system provides huge pages.
  constexpr auto size = static_cast<std::size_t>(triad_bytes / 24.0);
  const auto a = make_zeroed_device_array<double>("a", size), b = make_zeroed_device_array<double>("b", size),
             c = make_zeroed_device_array<double>("c", size);
  return [=] { triad_kernel(a, b, c); };
}

void triad(benchmark::State& bench) {
  const auto sweep = make_triad();
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (auto _ : bench) sweep();
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(triad_bytes) * ranks);
}

std::pair<double, double> fastest_alternated(int times, const std::function<void()>& one,
                                             const std::function<void()>& other) {
  double best_one = seconds_of(one), best_other = seconds_of(other);
  for (int k = 0; k < times; ++k) {
    if (k % 6 < 3)
      best_one = std::min(best_one, seconds_of(one));
    else
      best_other = std::min(best_other, seconds_of(other));
  }
  return {best_one, best_other};
}

}  // namespace diffsim
