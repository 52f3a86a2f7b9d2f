// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// Ropes, `kind: rope`: segments that stretch and, where a user gives a bending stiffness, bend; straight when free of
/// forces, the same in all directions of bending, and free to twist.
const CellModel& rope_model();

}  // namespace diffsim
