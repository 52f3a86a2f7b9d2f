// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of cloth, `kind: cloth` in scenes. Triangles of cloth are isotropic membranes. If a bending
/// stiffness is given, hinges at the common sides of neighbouring triangles resist bending.
const CellModel& cloth_model();

}  // namespace diffsim
