// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace diffsim {

/// Returns the candidate with the smallest edit distance to `word`, as a suggestion in error messages. Only distances
/// that are at most max(word.size() / 3, 2) and less than word.size() count; returns "" if no candidate has such a
/// distance. If `word` has at least three characters, a candidate that starts with `word` has distance 1.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace diffsim
