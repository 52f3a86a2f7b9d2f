// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Device memory on a host (DIFFSIM_EMULATE_DEVICE), for tests of what a GPU runs: pages of its own, which only kernels
// and deep copies can touch. Host code that reads or writes them, and kernels that capture a host address, end the
// process with a message: a copy is missing. Fresh memory is full of NaN. Included by core/device.hpp.

#include <cstddef>
#include <string>
#include <utility>

#include "diffsim/core/spaces_impl.hpp"

#if defined(DIFFSIM_EMULATE_DEVICE)

namespace diffsim {

/// Whether kernels run on the host. Those of an emulated device go the way they go on a GPU: one element a thread.
inline constexpr bool kernels_on_host = false;

/// Emulated device memory; counted references.
void* allocate_on_device(const std::string& label, std::size_t bytes);
void free_on_device(void* data) noexcept;

namespace emulation {

void retain(void* data) noexcept;
/// How many hold the memory.
int num_shares(void* data) noexcept;
/// Ends the process if an address that is used as one of device memory is none.
void require_on_device(const void* address);
/// Ends the process if a kernel captures a host address. `bytes`: a multiple of 8, paddings cleared.
void require_no_host_address(const std::string& label, const void* captured, std::size_t bytes);

/// Opens device memory for as long as an object lives: for one kernel.
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

/// A share in an allocation. Holds its device address only, as kernels take copies of it along.
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

/// Device memory that something else owns.
template <class T>
struct DeviceSpan : emulation::View<T> {
  DeviceSpan() = default;
  DeviceSpan(T* data, std::size_t size) : emulation::View<T>(data, size) {
    if (size > 0) emulation::require_on_device(data);
  }
};

/// Device memory that is freed with the last copy of the array.
template <class T>
class DeviceArray : public emulation::View<T> {
  using View = emulation::View<T>;

 public:
  DeviceArray() = default;
  /// Zeroed.
  DeviceArray(const std::string& label, std::size_t size) : DeviceArray(label, size, nullptr) {
    Kokkos::deep_copy(static_cast<const View&>(*this), T{});
  }
  /// Not initialised.
  DeviceArray(const std::string& label, std::size_t size, std::nullptr_t)
      : DeviceArray(emulation::Share(allocate_on_device(label, size * sizeof(T))), size) {}
  /// Part of another array.
  DeviceArray(const DeviceArray& whole, std::pair<std::size_t, std::size_t> range)
      : View(static_cast<const View&>(whole), range), share_(whole.share_) {}
  /// Memory that something else owns.
  DeviceArray(T* data, std::size_t size) : View(data, size) {
    if (size > 0) emulation::require_on_device(data);
  }

  /// How many arrays hold the memory, as of a View that owns it.
  int use_count() const { return share_.data() ? emulation::num_shares(share_.data()) : 0; }

 private:
  DeviceArray(emulation::Share share, std::size_t size)
      : View(static_cast<T*>(share.data()), size), share_(std::move(share)) {}

  emulation::Share share_;
};

/// An uninitialised device array.
template <class T>
DeviceArray<T> make_device_array(const std::string& label, std::size_t size) {
  return DeviceArray<T>(label, size, nullptr);
}

}  // namespace diffsim

// Kernels of the device, as distinct from those of Kokkos' host space, whose ranges are of another type.
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
