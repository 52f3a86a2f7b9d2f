// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim::app {

/// Returns a Markdown table of all parameters for which scenes can request gradients and inversions. The returned table
/// is generated from the ParameterSpecs and has one row per parameter.
std::string parameter_table();

}  // namespace diffsim::app
