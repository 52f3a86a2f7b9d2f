// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/io/file_system.hpp"

namespace diffsim {

/// Writes a text file under a temporary name, waits until it is on the disk, and gives it its name: readers see the old
/// file or the whole new one, even if the power fails. Throws Error (system). Serial: for one rank.
void publish_text(const std::string& path, const std::string& text, FileSystem& files = system_files());

}  // namespace diffsim
