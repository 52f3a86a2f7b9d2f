// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace diffsim {

/// Returns the 63-bit index along the 3-D Hilbert curve of a point with 21-bit coordinates (Skilling 2004,
/// doi:10.1063/1.1751381).
std::uint64_t hilbert_index(std::array<std::uint32_t, 3> point);

/// Returns the indices of the points `points` [n, 3] in the order of the points along a Hilbert curve through the
/// bounding cube of the points. Points with the same hilbert_index() keep their relative order.
std::vector<int> hilbert_order(const std::vector<double>& points);

}  // namespace diffsim
