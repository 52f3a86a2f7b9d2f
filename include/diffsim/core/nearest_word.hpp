// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffsim {

/// The candidate with the smallest edit distance to `word`, or "" where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace diffsim
