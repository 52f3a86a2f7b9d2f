// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/dynamics/system.hpp"
#include "diffsim/simulation/material.hpp"

namespace diffsim {

/// Adds to a system the parameters, forces and masses of a model in the regions of its materials. Throws Error (input)
/// where a region has no such cells, two regions overlap, or a value is missing or not allowed. Collective.
void add_cell_materials(System& system, const CellModel& model, const std::vector<DifferentiableMaterial>& materials);

}  // namespace diffsim
