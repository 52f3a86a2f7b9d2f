// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace diffsim {

/// Returns a piece of a file in a printable form for messages: in quotes, at most 40 bytes, non-printable bytes
/// escaped.
std::string in_quotes(std::string_view text);

/// Returns the contents of a regular file. Throws InputError with the reason if the file cannot be read.
std::string read_whole_file(const std::string& path);

/// Throws InputError if `scale`, a factor for coordinates, is not positive and finite.
void check_scale(double scale);

}  // namespace diffsim
