// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/hinges.hpp"

#include <utility>

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/manifold.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/shell/hinge_energy.hpp"

namespace diffsim {

std::unique_ptr<ForceTerm> make_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                       const std::string& kind, const ParameterSpec& bending) {
  const std::string name(bending.name);
  require_manifold(mesh, CellKind::triangle, triangles, kind + " with " + name, name);
  const LowerCellSet& all = mesh.lower_cells(CellKind::triangle);
  std::vector<int> vertices, of_triangle;
  for (const int triangle : triangles)
    for (std::size_t side = 0; side < 3; ++side) {
      const std::size_t first = 3 * static_cast<std::size_t>(triangle);
      const int across = all.across[first + side];
      if (across == no_vertex_across) continue;
      for (const std::size_t corner : {side + 1, side + 2, side}) vertices.push_back(all.vertices[first + corner % 3]);
      vertices.push_back(across);
      of_triangle.push_back(triangle);
    }
  return std::make_unique<StencilTerm<HingeEnergy>>("hinges", HingeEnergy(), std::vector{PointParameter::of(bending)},
                                                    std::move(vertices), of_triangle, all.num());
}

}  // namespace diffsim
