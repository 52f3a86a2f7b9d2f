// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels over a Range on a host: a thread that is alone works the range itself. Kokkos would open a parallel region
// for it, which costs a call of the system, and would copy the kernel and its label.

#include <string>
#include <type_traits>

#include "diffsim/core/spaces_impl.hpp"

namespace diffsim {

/// Whether kernels run on the host: elements are then worked in SIMD packs by thread-owned chunks.
inline constexpr bool kernels_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

/// A kernel on the host: function(kernel, begin, end) works the indices from begin to end.
struct RangeWork {
  const void* kernel;
  void (*function)(const void* kernel, int begin, int end);
};
/// Shares the indices from `begin` to `end` among the threads. Tools see the kernel by its label.
void run_range(const char* label, int begin, int end, const RangeWork& work);

template <class Kernel>
void run_range(const char* label, const Range& range, const Kernel& kernel) {
  run_range(label, range.begin(), range.end(), {&kernel, [](const void* of, int begin, int end) {
                                                  const Kernel& body = *static_cast<const Kernel*>(of);
                                                  for (int i = begin; i < end; ++i) body(i);
                                                }});
}

}  // namespace diffsim

namespace Kokkos {

template <class Policy, class Kernel>
requires(diffsim::kernels_on_host&& std::is_same_v<Policy, diffsim::Range>) void parallel_for(const char* label,
                                                                                              const Policy& range,
                                                                                              const Kernel& kernel) {
  diffsim::run_range(label, range, kernel);
}
template <class Policy, class Kernel>
requires(diffsim::kernels_on_host&& std::is_same_v<Policy, diffsim::Range>) void parallel_for(const std::string& label,
                                                                                              const Policy& range,
                                                                                              const Kernel& kernel) {
  diffsim::run_range(label.c_str(), range, kernel);
}

}  // namespace Kokkos
