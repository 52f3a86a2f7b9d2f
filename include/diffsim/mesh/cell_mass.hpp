// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "diffsim/core/inertia.hpp"
#include "diffsim/mesh/cell_kind.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Makes the masses of segments or triangles: the parameter `density` [cells] times their lengths or areas at rest, in
/// equal shares at the corners (kg). The density is in kg/m or kg/m²; in kg/m³ where the parameter `thickness` [cells],
/// m, multiplies it.
std::unique_ptr<Inertia> make_cell_mass(const TetrahedralMesh& mesh, CellKind kind, std::string_view density,
                                        std::string_view thickness = {});

}  // namespace diffsim
