// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specs of all parameters that a solver may have, each name once: those of the laws of elasticity, registered ones
/// included, of damping, time steppers, loads, contact, and x[0].
std::vector<ParameterSpec> parameter_specs();
/// The spec of the parameter NAME, or of NAME:LABEL; nothing for a name that no spec has.
std::optional<ParameterSpec> find_parameter_spec(std::string_view name);

}  // namespace diffsim
