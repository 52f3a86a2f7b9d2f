// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace diffsim::dynamics {

/// Value of the index of the smallest invalid cell (`Configuration::invalid_cell`) if all cells are valid. Indices of
/// invalid vertices use the same value.
constexpr std::int32_t nothing_invalid = std::numeric_limits<std::int32_t>::max();

}  // namespace diffsim::dynamics
