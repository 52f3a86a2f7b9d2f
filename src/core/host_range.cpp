// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

#if !defined(DIFFSIM_EMULATE_DEVICE)

namespace diffsim {

void run_range(const char* label, int begin, int end, const RangeWork& work) {
  const int threads = std::min(concurrency(), end - begin);
  if (threads > 1) {
    const auto first = [=](int thread) {
      return begin + static_cast<int>(static_cast<std::int64_t>(end - begin) * thread / threads);
    };
    using Threads = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;
    Kokkos::parallel_for(label, Threads(0, threads),
                         [=](int thread) { work.function(work.kernel, first(thread), first(thread + 1)); });
    return;
  }
  std::uint64_t kernel = 0;
  const bool seen = Kokkos::Tools::profileLibraryLoaded();
  if (seen) Kokkos::Tools::beginParallelFor(label, 0, &kernel);
  work.function(work.kernel, begin, end);
  if (seen) Kokkos::Tools::endParallelFor(kernel);
}

}  // namespace diffsim

#endif
