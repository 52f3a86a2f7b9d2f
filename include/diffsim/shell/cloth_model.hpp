// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// Cloth, `kind: cloth`: triangles are membranes, with hinges between them where a user gives a bending stiffness.
const CellModel& cloth_model();

}  // namespace diffsim
