// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "diffsim/core/impl/device.hpp"

namespace diffsim {

/// Pool of device arrays. An ArrayPool reuses the memory of an array when no copy of the array exists any more; copies
/// of a DeviceArray refer to the same memory. An ArrayPool is intended for results whose size changes from step to
/// step: when the sizes no longer grow, the pool allocates no further memory. An ArrayPool must be used by one host
/// thread only.
class ArrayPool {
 public:
  /// Returns an uninitialised array of `size` values. The pool does not reuse the memory of the array while a copy of
  /// the array exists.
  template <class T>
  DeviceArray<T> take(const std::string& label, std::size_t size) {
    if (size == 0) return {};
    std::vector<DeviceArray<T>>& arrays = std::get<std::vector<DeviceArray<T>>>(arrays_);
    // Search for the smallest unused array that is large enough.
    DeviceArray<T>* best = nullptr;
    DeviceArray<T>* free = nullptr;
    for (DeviceArray<T>& array : arrays) {
      if (array.use_count() > 1) continue;
      free = &array;
      if (array.size() >= size && (!best || array.size() < best->size())) best = &array;
    }
    if (!best) {
      best = free ? free : &arrays.emplace_back();
      *best = {};
      *best = make_device_array<T>(label, size + size / 2);
    }
    return DeviceArray<T>(*best, std::make_pair(std::size_t{0}, size));
  }
  /// Returns an array of `size` zeros; see `take`.
  template <class T>
  DeviceArray<T> take_zeroed(const std::string& label, std::size_t size) {
    const DeviceArray<T> array = take<T>(label, size);
    if (size > 0) Kokkos::deep_copy(array, T{});
    return array;
  }

 private:
  std::tuple<std::vector<DeviceArray<double>>, std::vector<DeviceArray<int>>, std::vector<DeviceArray<std::int64_t>>,
             std::vector<DeviceArray<std::uint64_t>>>
      arrays_;
};

}  // namespace diffsim
