// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// Mass–spring systems, `kind: springs`: segments are springs with dampers, vertices are points with masses.
const CellModel& spring_model();

}  // namespace diffsim
