// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "io/file_system.hpp"

namespace diffsim {

/// Writes a text file under a temporary name, waits until the file is on the disk, and renames the file to its final
/// name. A program that opens the file by its final name reads either the old file or the complete new file, even after
/// a power failure. Throws InputError if the file cannot be opened for writing, and Error of kind `system` if writing
/// fails. publish_text() is serial, and must be called on only one rank.
void publish_text(const std::string& path, const std::string& text, FileSystem& files = system_files());

}  // namespace diffsim
