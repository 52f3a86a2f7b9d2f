// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffsim {

/// Returns the candidate with the smallest edit distance to `word`, as a suggestion in error messages. Only candidates
/// with an edit distance d ≤ max(word.size() / 3, 2) and d < word.size() are considered; `nearest` returns "" if there
/// are none. If `word` has at least three characters, the edit distance of a candidate that starts with `word` is taken
/// as 1.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace diffsim
