// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace diffsim::dynamics {

/// Value of `Configuration::invalid_cell`, the smallest index of an inverted cell, if no cell is inverted. The smallest
/// index of a vertex whose position is not finite has the same value if there is no such vertex.
constexpr std::int32_t nothing_invalid = std::numeric_limits<std::int32_t>::max();

}  // namespace diffsim::dynamics
