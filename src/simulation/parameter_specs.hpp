// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Returns the ParameterSpecs of all parameters that a scene may have, one for each name. The result of
/// `parameter_specs` includes the parameters of the laws of elasticity (including laws that programs have registered),
/// cell models, damping, time steppers, loads, attachments, contact, and the initial state x[0].
std::vector<ParameterSpec> parameter_specs();
/// Returns the ParameterSpec of the parameter NAME or NAME:LABEL, where LABEL is for example a region, or nullopt if
/// there is no parameter NAME.
std::optional<ParameterSpec> find_parameter_spec(std::string_view name);

}  // namespace diffsim
