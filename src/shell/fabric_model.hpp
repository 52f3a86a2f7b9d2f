// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of woven cloth, `kind: fabric`: triangles are orthotropic membranes with threads along the warp
/// and the weft. If the user gives a bending stiffness, there are hinges between the triangles. If the user gives a
/// strain limit, the strain of the threads is limited.
const CellModel& fabric_model();

}  // namespace diffsim
