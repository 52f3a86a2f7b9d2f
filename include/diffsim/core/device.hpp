// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The one public header that includes Kokkos. It absorbs the differences between Kokkos 3.4 and 5.x.

#include <Kokkos_Core.hpp>

#include "diffsim/core/config.hpp"
#include "diffsim/core/huge_pages.hpp"

namespace diffsim {

#if defined(DIFFSIM_EXECUTION_SPACE_SERIAL)
using ExecutionSpace = Kokkos::Serial;
#elif defined(DIFFSIM_EXECUTION_SPACE_OPENMP)
using ExecutionSpace = Kokkos::OpenMP;
#elif defined(DIFFSIM_EXECUTION_SPACE_CUDA)
using ExecutionSpace = Kokkos::Cuda;
#else
using ExecutionSpace = Kokkos::DefaultExecutionSpace;
#endif

using MemorySpace = ExecutionSpace::memory_space;

/// Whether kernels run on the host: elements are then worked in SIMD packs by thread-owned chunks.
inline constexpr bool kernels_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

template <class T>
using DeviceArray = Kokkos::View<T*, MemorySpace>;
template <class T>
using DeviceSpan = Kokkos::View<T*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using HostSpan = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// An uninitialised device array; a large one on a host is in huge pages.
template <class T>
DeviceArray<T> make_device_array(const std::string& label, std::size_t size) {
  DeviceArray<T> array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), size);
  if constexpr (kernels_on_host) advise_huge_pages(array.data(), size * sizeof(T));
  return array;
}

/// Likewise of zeros.
template <class T>
DeviceArray<T> make_zeroed_device_array(const std::string& label, std::size_t size) {
  auto array = make_device_array<T>(label, size);
  Kokkos::deep_copy(array, T{});
  return array;
}

/// A device copy of a host container.
template <class Container>
auto to_device(const std::string& label, const Container& host) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(host.data())>>;
  auto device = make_device_array<T>(label, host.size());
  const HostSpan<const T> source(host.data(), host.size());
  Kokkos::deep_copy(device, source);
  return device;
}

using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;
/// One iteration a thread: for work that threads own.
using ThreadRange = Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;

}  // namespace diffsim
