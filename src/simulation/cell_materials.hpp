// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diffsim/dynamics/system.hpp"
#include "diffsim/simulation/material.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim {

/// Adds the parameters, force terms and inertia of a cell model to a system, in the regions of the list `materials`.
/// Throws Error (input) if a region has no cells of the model's kind, if two regions overlap, or if a parameter value
/// is missing or not allowed. Collective.
void add_cell_materials(System& system, const CellModel& model, const std::vector<DifferentiableMaterial>& materials);

}  // namespace diffsim
