// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace diffsim {

/// Text from a file, safe to print: in quotes, shortened, with unprintable bytes escaped.
std::string in_quotes(std::string_view text);

/// Contents of a regular file; InputError that says why it cannot be read.
std::string read_whole_file(const std::string& path);

/// Throws InputError for a scale of coordinates that is not a positive number.
void check_scale(double scale);

}  // namespace diffsim
