// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// Computes y[first + i] += values[i], where `first` and `i` count scalars. Copies only these entries between host and
/// device. Intended for a few values that were summed on the host.
void add_to_entries(Field& y, std::size_t first, const std::vector<double>& values);

}  // namespace diffsim
