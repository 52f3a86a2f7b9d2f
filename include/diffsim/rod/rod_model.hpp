// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// Rods, `kind: rod`: segments that stretch, bend in two planes and twist, of a round section of one material.
const CellModel& rod_model();

/// Rods of any section, given by its stiffnesses, `kind: beam`.
const CellModel& beam_model();

}  // namespace diffsim
