// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/array_pool.hpp"

namespace diffsim::contact {

/// Sorts `keys` by their lowest `bits` bits, and `values` with the keys; equal keys keep their order. Takes working
/// arrays of the same size from `pool`. On return, `keys` and `values` may refer to two of these working arrays.
void radix_sort(DeviceArray<std::uint64_t>& keys, DeviceArray<int>& values, int bits, ArrayPool& pool);

}  // namespace diffsim::contact
