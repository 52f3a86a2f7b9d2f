// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace diffsim {

/// Converts an index i ≥ 0 to the index type of standard containers.
inline std::size_t to_index(int i) { return static_cast<std::size_t>(i); }

}  // namespace diffsim
