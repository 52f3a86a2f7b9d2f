// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/core/impl/device.hpp"

namespace diffsim::testing_core {

/// Returns the values of a device array.
template <class T>
std::vector<T> on_host(const DeviceArray<T>& array) {
  std::vector<T> values(array.size());
  Kokkos::deep_copy(HostSpan<T>(values.data(), values.size()), array);
  return values;
}

}  // namespace diffsim::testing_core
