// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/cell_model.hpp"

namespace diffsim {

/// Returns the model of thin shells, `kind: shell` in scenes: Koiter's energy, the sum of a membrane energy and a
/// bending energy, on triangles. The membrane law of a shell, in plane stress, is St. Venant–Kirchhoff's law or the
/// Neo-Hookean law. `make_plate_term` creates the force term of the bending energy. The mass of a triangle is density
/// times thickness times rest area.
const CellModel& shell_model();

}  // namespace diffsim
