// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace diffsim {

/// Returns the larger of two numbers, or NaN if one of them is NaN. std::max, in contrast, drops a NaN, so that a test
/// of the largest error would pass.
inline double max_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace diffsim
