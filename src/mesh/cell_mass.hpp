// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "core/inertia.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the inertia of segments or triangles: the mass ρ |cell|, kg, is distributed equally to the corners. |cell|
/// is the rest length or the rest area.
///
/// ρ is the parameter named `density` [cells], in kg/m for segments and kg/m² for triangles. If `thickness` is not
/// empty, the mass is also multiplied by the parameter of that name [cells], m, and ρ is in kg/m³ for triangles.
/// Throws Error for other kinds of cells.
std::unique_ptr<Inertia> make_cell_mass(const TetrahedralMesh& mesh, CellKind kind, std::string_view density,
                                        std::string_view thickness = {});

}  // namespace diffsim
