// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of mass–spring systems: segments are springs with dampers, and vertices are point masses. Scene
/// files select the model of mass–spring systems by `kind: springs`.
const CellModel& spring_model();

}  // namespace diffsim
