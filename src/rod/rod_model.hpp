// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of rods, `kind: rod` in scenes: segments that stretch, bend in two planes and twist, with a round
/// cross-section of one material.
const CellModel& rod_model();

/// Returns the model of beams, `kind: beam` in scenes: rods whose cross-section has any shape and is described by
/// stiffnesses.
const CellModel& beam_model();

}  // namespace diffsim
