// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// y[first + i] += values[i], entries counted as single numbers: for a few that were summed on the host. Only they are
/// copied.
void add_to_entries(Field& y, std::size_t first, const std::vector<double>& values);

}  // namespace diffsim
