// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>

#include "diffsim/core/impl/device.hpp"

namespace diffsim {

void zero_on_device(void* data, std::size_t bytes) {
  // On a device, each thread sets one value. Setting doubles therefore needs only an eighth of the threads that setting
  // bytes would need.
  if (bytes % sizeof(double) == 0)
    Kokkos::deep_copy(DeviceSpan<double>(static_cast<double*>(data), bytes / sizeof(double)), 0.0);
  else
    Kokkos::deep_copy(DeviceSpan<unsigned char>(static_cast<unsigned char*>(data), bytes), 0);
}

void copy_to_device(void* data, const void* host, std::size_t bytes) {
  Kokkos::deep_copy(DeviceSpan<unsigned char>(static_cast<unsigned char*>(data), bytes),
                    HostSpan<const unsigned char>(static_cast<const unsigned char*>(host), bytes));
}

#if !defined(DIFFSIM_EMULATE_DEVICE)
template DeviceArray<int> make_device_array<int>(const std::string&, std::size_t);
template DeviceArray<double> make_device_array<double>(const std::string&, std::size_t);
#endif

}  // namespace diffsim
