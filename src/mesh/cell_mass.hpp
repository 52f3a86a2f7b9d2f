// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "core/inertia.hpp"
#include "diffsim/mesh/region.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the lumped masses of segments or triangles. The mass of a cell is the density ρ times the rest length of the
/// segment or the rest area of the triangle, and is distributed equally to the corners.
///
/// The argument `density` is the name of the parameter ρ [cells], the density in kg/m for segments or kg/m² for
/// triangles. If the argument `thickness` is not empty, `thickness` is the name of a parameter [cells] in m that
/// multiplies the mass of each cell, and the unit of the density of triangles is kg/m³. Throws Error if `kind` is
/// neither segments nor triangles.
std::unique_ptr<Inertia> make_cell_mass(const TetrahedralMesh& mesh, CellKind kind, std::string_view density,
                                        std::string_view thickness = {});

}  // namespace diffsim
