// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim::app {

/// Returns a Markdown table of all parameters available to gradients and inversions, one row per parameter, generated
/// from the ParameterSpecs.
std::string parameter_table();

}  // namespace diffsim::app
