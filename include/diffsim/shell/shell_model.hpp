// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// Thin shells, `kind: shell`: Koiter's energy of triangles, St. Venant–Kirchhoff's membrane in plane stress and
/// bending as in `make_plate_term`; masses by volume.
const CellModel& shell_model();

}  // namespace diffsim
