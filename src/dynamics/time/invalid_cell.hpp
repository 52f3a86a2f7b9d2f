// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace diffsim::dynamics {

/// Value of the smallest invalid cell (`Configuration::invalid_cell`), or of the smallest invalid vertex, while all
/// cells or vertices are valid.
constexpr std::int32_t nothing_invalid = std::numeric_limits<std::int32_t>::max();

}  // namespace diffsim::dynamics
