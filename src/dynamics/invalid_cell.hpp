// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace diffsim::dynamics {

/// Value that `Configuration::invalid_cell` points at, and its like for vertices, while nothing was found.
constexpr std::int32_t nothing_invalid = std::numeric_limits<std::int32_t>::max();

}  // namespace diffsim::dynamics
