// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// Woven cloth, `kind: fabric`: triangles are orthotropic membranes with threads of the warp and the weft, with hinges
/// between them where a user gives a bending stiffness, and with a limit of the threads' strain where a user gives one.
const CellModel& fabric_model();

}  // namespace diffsim
