// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of ropes, `kind: rope` in scenes: segments that stretch and, if a bending stiffness is given,
/// bend. A rope is straight in the stress-free state, has the same bending stiffness in all directions, and does not
/// resist twist.
const CellModel& rope_model();

}  // namespace diffsim
