// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "core/inertia.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the inertia of segments or triangles. The mass of a cell is ρ times the rest length of the segment or the
/// rest area of the triangle, and is distributed equally to the corners.
///
/// ρ is the parameter named `density` [cells], in kg/m for segments and in kg/m² for triangles. If `thickness` is not
/// empty, the mass is also multiplied by the parameter named `thickness` [cells], in m, and the unit of ρ for triangles
/// is kg/m³. Throws Error for other kinds of cells.
std::unique_ptr<Inertia> make_cell_mass(const TetrahedralMesh& mesh, CellKind kind, std::string_view density,
                                        std::string_view thickness = {});

}  // namespace diffsim
