// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Except for the headers `*_impl.hpp`, this header is the only installed header that includes Kokkos. The header hides
// the differences between the Kokkos versions 3.4 to 5.x.

#include <cstddef>
#include <string>
#include <type_traits>

#include "diffsim/core/impl/huge_pages.hpp"
#include "diffsim/core/impl/spaces_impl.hpp"

#if defined(DIFFSIM_EMULATE_DEVICE)

#include "diffsim/core/impl/emulated_device_impl.hpp"

#else

#include "diffsim/core/impl/host_range_impl.hpp"

namespace diffsim {

template <class T>
using DeviceArray = Kokkos::View<T*, MemorySpace>;
template <class T>
using DeviceSpan = Kokkos::View<T*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

inline void* allocate_on_device(const std::string& label, std::size_t bytes) {
  return Kokkos::kokkos_malloc<MemorySpace>(label, bytes);
}
inline void free_on_device(void* data) noexcept { Kokkos::kokkos_free<MemorySpace>(data); }

/// Returns an uninitialised device array. On a host, huge pages are requested for a large array (`advise_huge_pages`).
template <class T>
DeviceArray<T> make_device_array(const std::string& label, std::size_t size) {
  DeviceArray<T> array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), size);
  if constexpr (kernels_on_host) advise_huge_pages(array.data(), size * sizeof(T));
  return array;
}
extern template DeviceArray<int> make_device_array<int>(const std::string&, std::size_t);
extern template DeviceArray<double> make_device_array<double>(const std::string&, std::size_t);

}  // namespace diffsim

#endif

namespace diffsim {

template <class T>
using HostSpan = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Sets all bytes of a device array to zero.
void zero_on_device(void* data, std::size_t bytes);
/// Copies host memory to a device array.
void copy_to_device(void* data, const void* host, std::size_t bytes);

/// Returns a device array of zeros.
template <class T>
DeviceArray<T> make_zeroed_device_array(const std::string& label, std::size_t size) {
  static_assert(std::is_arithmetic_v<T>);
  auto array = make_device_array<T>(label, size);
  zero_on_device(array.data(), size * sizeof(T));
  return array;
}

/// Returns a device copy of a host container.
template <class Container>
auto to_device(const std::string& label, const Container& host) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(host.data())>>;
  static_assert(std::is_trivially_copyable_v<T>);
  auto device = make_device_array<T>(label, host.size());
  copy_to_device(device.data(), host.data(), host.size() * sizeof(T));
  return device;
}

/// Returns the contents of a device array in memory that the host can read and write: the array itself if kernels run
/// on the host, else a copy. If `host_view` returns a copy, changes of the copy are not written back to the device
/// array.
template <class Array>
auto host_view(const Array& array) {
  if constexpr (kernels_on_host) {
    Kokkos::fence();
    return array;
  } else {
    using T = typename Array::non_const_value_type;
    const Kokkos::View<T*, Kokkos::HostSpace> host(Kokkos::view_alloc(Kokkos::WithoutInitializing, array.label()),
                                                   array.size());
    Kokkos::deep_copy(host, array);
    return host;
  }
}

}  // namespace diffsim
