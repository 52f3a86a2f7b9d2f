// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of cloth, `kind: cloth`: triangles are membranes. If the user gives a bending stiffness, there are
/// hinges between the triangles.
const CellModel& cloth_model();

}  // namespace diffsim
