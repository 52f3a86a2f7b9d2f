// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Emulation of device memory on a host (DIFFSIM_EMULATE_DEVICE), for tests of the GPU's code path. Device memory
// consists of separate pages, which only kernels and deep copies can access. If host code reads or writes these pages,
// or if a kernel captures a host address, the process ends with an error message: on a GPU, this code would lack a copy
// between host and device. New memory is filled with NaN. core/impl/device.hpp includes this header.

#include <cstddef>
#include <string>
#include <utility>

#include "diffsim/core/impl/spaces_impl.hpp"

#if defined(DIFFSIM_EMULATE_DEVICE)

namespace diffsim {

/// True if kernels use the host's code path. For an emulated device, `kernels_on_host` is false, because kernels use
/// the GPU's code path: one element per thread.
inline constexpr bool kernels_on_host = false;

/// Allocates emulated device memory, with a reference count of 1.
void* allocate_on_device(const std::string& label, std::size_t bytes);
/// Decrements the reference count of an allocation, and frees the memory when the count reaches 0.
void free_on_device(void* data) noexcept;

namespace emulation {

/// Increments the reference count of an allocation.
void retain(void* data) noexcept;
/// Returns the reference count of an allocation.
int num_shares(void* data) noexcept;
/// Ends the process if `address`, which the caller uses as a device address, is not in emulated device memory.
void require_on_device(const void* address);
/// Ends the process if a kernel captures a host address. `captured`: the kernel object, whose padding bytes are zero.
/// `bytes`: size of the kernel object, rounded down to a multiple of 8.
void require_no_host_address(const std::string& label, const void* captured, std::size_t bytes);

/// Guard that makes emulated device memory accessible while the guard exists. An object of the class Access is
/// constructed for each run of a kernel.
class Access {
 public:
  Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
  ~Access();
};

/// Ends the process if a functor captures a host address.
template <class Functor>
void check(const std::string& label, const Functor& functor) {
  Functor copy = functor;
  __builtin_clear_padding(&copy);
  require_no_host_address(label, &copy, sizeof(Functor) / sizeof(void*) * sizeof(void*));
}

/// Reference-counted handle of an allocation. A Share stores nothing but the device address, because kernels capture
/// copies of a Share.
class Share {
 public:
  Share() = default;
  explicit Share(void* data) : data_(data) {}
  Share(const Share& other) : data_(other.data_) {
    if (data_) retain(data_);
  }
  Share(Share&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Share& operator=(Share other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~Share() {
    if (data_) free_on_device(data_);
  }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

template <class T>
using View = Kokkos::View<T*, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace emulation

/// Non-owning view of device memory.
template <class T>
struct DeviceSpan : emulation::View<T> {
  DeviceSpan() = default;
  DeviceSpan(T* data, std::size_t size) : emulation::View<T>(data, size) {
    if (size > 0) emulation::require_on_device(data);
  }
};

/// Device array with shared ownership: the memory is freed when the last array that shares the memory is destroyed.
template <class T>
class DeviceArray : public emulation::View<T> {
  using View = emulation::View<T>;

 public:
  DeviceArray() = default;
  /// Constructs an array of zeros.
  DeviceArray(const std::string& label, std::size_t size) : DeviceArray(label, size, nullptr) {
    Kokkos::deep_copy(static_cast<const View&>(*this), T{});
  }
  /// Constructs an uninitialised array.
  DeviceArray(const std::string& label, std::size_t size, std::nullptr_t)
      : DeviceArray(emulation::Share(allocate_on_device(label, size * sizeof(T))), size) {}
  /// Constructs a view of a range of the array `whole`. The view and the array `whole` share the ownership of the
  /// memory.
  DeviceArray(const DeviceArray& whole, std::pair<std::size_t, std::size_t> range)
      : View(static_cast<const View&>(whole), range), share_(whole.share_) {}
  /// Constructs a non-owning view of device memory.
  DeviceArray(T* data, std::size_t size) : View(data, size) {
    if (size > 0) emulation::require_on_device(data);
  }

  /// Returns the number of arrays that share the memory, as `Kokkos::View::use_count` does; returns 0 for a non-owning
  /// view of device memory.
  int use_count() const { return share_.data() ? emulation::num_shares(share_.data()) : 0; }

 private:
  DeviceArray(emulation::Share share, std::size_t size)
      : View(static_cast<T*>(share.data()), size), share_(std::move(share)) {}

  emulation::Share share_;
};

/// Returns an uninitialised device array.
template <class T>
DeviceArray<T> make_device_array(const std::string& label, std::size_t size) {
  return DeviceArray<T>(label, size, nullptr);
}

}  // namespace diffsim

// Overloads of Kokkos' algorithms for kernels on the emulated device. Kernels in Kokkos' host space use ranges of
// another type and do not call these overloads.
namespace Kokkos {

template <class Functor>
void parallel_for(const std::string& label, const diffsim::Range& range, const Functor& functor) {
  diffsim::emulation::check(label, functor);
  const diffsim::emulation::Access access;
  parallel_for<diffsim::Range>(label, range, functor);
}
template <class Functor, class Result>
void parallel_reduce(const std::string& label, const diffsim::Range& range, const Functor& functor, Result& result) {
  diffsim::emulation::check(label, functor);
  const diffsim::emulation::Access access;
  parallel_reduce<diffsim::Range>(label, range, functor, result);
}
template <class Functor, class Result>
void parallel_reduce(const std::string& label, const diffsim::Range& range, const Functor& functor,
                     const Result& result) {
  diffsim::emulation::check(label, functor);
  const diffsim::emulation::Access access;
  parallel_reduce<diffsim::Range>(label, range, functor, result);
}
template <class Functor, class Result>
void parallel_scan(const std::string& label, const diffsim::Range& range, const Functor& functor, Result& result) {
  diffsim::emulation::check(label, functor);
  const diffsim::emulation::Access access;
  parallel_scan<diffsim::Range>(label, range, functor, result);
}
template <class Functor>
void parallel_scan(const std::string& label, const diffsim::Range& range, const Functor& functor) {
  diffsim::emulation::check(label, functor);
  const diffsim::emulation::Access access;
  parallel_scan<diffsim::Range>(label, range, functor);
}

}  // namespace Kokkos

#endif
