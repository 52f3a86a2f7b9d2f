// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Sorts the array `keys` by the lowest `bits` bits of each key, and permutes the array `values` in the same way; equal
/// keys keep their order. Takes working arrays of the size of `keys` from the pool `pool`. On return, `keys` and
/// `values` may refer to two of the working arrays taken from `pool`.
void radix_sort(DeviceArray<std::uint64_t>& keys, DeviceArray<int>& values, int bits, ArrayPool& pool);

}  // namespace diffsim::contact
