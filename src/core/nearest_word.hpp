// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffsim {

/// Returns the candidate with the smallest edit distance to `word`, for messages; "" if every distance exceeds
/// max(word.size() / 3, 2) or is not less than word.size(). A longer candidate that starts with `word` has distance 1
/// if `word` has at least three characters.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace diffsim
