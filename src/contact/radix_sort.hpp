// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Sorts the array `keys` by the lowest `bits` bits of each key, with `bits` rounded up to a multiple of 8, and
/// permutes the array `values` in the same way; equal keys keep their order. Takes working arrays from the pool `pool`.
/// On return, `keys` and `values` may refer to two of the working arrays.
void radix_sort(DeviceArray<std::uint64_t>& keys, DeviceArray<int>& values, int bits, ArrayPool& pool);

}  // namespace diffsim::contact
