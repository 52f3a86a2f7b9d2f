// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of woven cloth, `kind: fabric` in scenes. Triangles of woven cloth are orthotropic membranes with
/// threads along the warp and the weft. If a bending stiffness is given, hinges at the common sides of neighbouring
/// triangles resist bending. If a strain limit is given, a barrier energy limits the strain of the threads.
const CellModel& fabric_model();

}  // namespace diffsim
