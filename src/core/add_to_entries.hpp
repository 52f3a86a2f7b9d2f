// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// Computes y[first + i] += values[i], where y[k] is scalar k of the array of the field y. Only the scalars to which
/// `values` are added are copied between host and device. `add_to_entries` is intended for a few values that were
/// summed on the host.
void add_to_entries(Field& y, std::size_t first, const std::vector<double>& values);

}  // namespace diffsim
