// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of ropes, `kind: rope` in scenes: segments that stretch and, if the user gives a bending
/// stiffness, bend. A rope free of forces is straight, bends equally in all directions, and does not resist twist.
const CellModel& rope_model();

}  // namespace diffsim
