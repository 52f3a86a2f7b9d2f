// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace diffsim::dynamics {

/// Value that means "no cell" if stored as the smallest index of an inverted cell (`Configuration::invalid_cell`), and
/// "no vertex" if stored as the smallest index of a vertex whose position is not finite.
constexpr std::int32_t nothing_invalid = std::numeric_limits<std::int32_t>::max();

}  // namespace diffsim::dynamics
