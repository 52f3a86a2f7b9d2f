// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim::inverse {

/// Returns the name of the field of the initial state that an unknown with the name `parameter` sets, or nullptr if the
/// unknown sets no field of the initial state.
inline const char* state_field(const std::string& parameter) {
  if (parameter == "initial_positions") return "positions";
  if (parameter == "initial_velocities") return "velocities";
  return nullptr;
}

}  // namespace diffsim::inverse
