// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/stencil_inertia_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/rod/rod_mass.hpp"
#include "rod_stencils.hpp"

namespace diffsim::rod {

/// Makes the masses of all segments with directors. `Mass`: GivenMass or RoundMass.
template <class Mass>
std::unique_ptr<Inertia> make_inertia(const TetrahedralMesh& mesh, const std::vector<PointParameter>& parameters) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const std::vector<int> segments = segments_with_directors(all);
  return std::make_unique<StencilInertia<Mass>>("mass of rods", parameters, ends_of(all, segments, true), segments,
                                                all.num());
}

}  // namespace diffsim::rod
