// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels over a Range (Kokkos::RangePolicy) on a host. The loop of a kernel is compiled once, for one thread and for
// several threads. With one thread or one iteration, the calling thread runs the loop without Kokkos, because Kokkos
// would open a parallel region, which costs a system call, and would copy the kernel and the label.

#include <type_traits>

#include "diffsim/core/impl/spaces_impl.hpp"

namespace diffsim {

/// True if kernels run on the host, where elements are processed in SIMD packs, and each thread processes one chunk of
/// packs.
inline constexpr bool kernels_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

template <class Policy>
concept HostRange = kernels_on_host && std::is_same_v<Policy, Range>;

/// Type-erased kernel on the host: function(kernel, begin, end) processes the indices begin ≤ i < end.
struct RangeWork {
  const void* kernel;
  void (*function)(const void* kernel, int begin, int end);
};
/// Runs a kernel with the indices begin ≤ i < end distributed over the threads. Kokkos Tools report the kernel under
/// the name `label`.
void run_range(const char* label, int begin, int end, const RangeWork& work);

}  // namespace diffsim

namespace Kokkos {

template <diffsim::HostRange Policy, class Kernel>
void parallel_for(const char* label, const Policy& range, const Kernel& kernel) {
  diffsim::run_range(label, range.begin(), range.end(), {&kernel, [](const void* of, int begin, int end) {
                                                           const Kernel& body = *static_cast<const Kernel*>(of);
                                                           for (int i = begin; i < end; ++i) body(i);
                                                         }});
}

}  // namespace Kokkos
