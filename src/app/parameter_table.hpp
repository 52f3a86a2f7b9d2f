// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim::app {

/// Table in Markdown of all parameters that gradients and inversions may ask for, a row each, made of their specs.
std::string parameter_table();

}  // namespace diffsim::app
