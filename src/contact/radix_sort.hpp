// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/device.hpp"

namespace diffsim::contact {

/// Sorts `keys` (their lowest `bits`) and `values` with them; equal keys keep their order. Works in scratch of the same
/// size.
void radix_sort(DeviceArray<std::uint64_t>& keys, DeviceArray<int>& values, int bits);

}  // namespace diffsim::contact
