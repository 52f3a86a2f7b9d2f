// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/array_pool.hpp"

namespace diffsim::contact {

/// Sorts `keys` (their lowest `bits`) and `values` with them; equal keys keep their order. Works in arrays of the same
/// size from `pool`, of which the sorted ones may be two.
void radix_sort(DeviceArray<std::uint64_t>& keys, DeviceArray<int>& values, int bits, ArrayPool& pool);

}  // namespace diffsim::contact
