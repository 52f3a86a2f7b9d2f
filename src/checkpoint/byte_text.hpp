// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace diffsim::checkpoint {

/// Returns a text for a number of bytes, for example "12.00 MiB".
std::string in_bytes(std::int64_t bytes);

}  // namespace diffsim::checkpoint
