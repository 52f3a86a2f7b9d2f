// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/hinges.hpp"

#include <utility>

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/manifold.hpp"
#include "shell/hinge_energy.hpp"

namespace diffsim {

HingeStencils hinge_stencils(const TetrahedralMesh& mesh, const std::vector<int>& triangles, const std::string& kind,
                             const std::string& parameter) {
  require_manifold(mesh, CellKind::triangle, triangles, kind + " with " + parameter, parameter);
  const LowerCellSet& all = mesh.lower_cells(CellKind::triangle);
  HingeStencils hinges;
  for (const int triangle : triangles)
    for (std::size_t side = 0; side < 3; ++side) {
      const std::size_t first = 3 * static_cast<std::size_t>(triangle);
      const int across = all.across[first + side];
      if (across == no_vertex_across) continue;
      for (const std::size_t corner : {side + 1, side + 2, side})
        hinges.vertices.push_back(all.vertices[first + corner % 3]);
      hinges.vertices.push_back(across);
      hinges.triangles.push_back(triangle);
    }
  return hinges;
}

std::unique_ptr<ForceTerm> make_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                       const std::string& kind, const ParameterSpec& bending) {
  HingeStencils hinges = hinge_stencils(mesh, triangles, kind, std::string(bending.name));
  return std::make_unique<StencilTerm<HingeEnergy>>("hinges", HingeEnergy(), std::vector{PointParameter::of(bending)},
                                                    std::move(hinges.vertices), hinges.triangles,
                                                    mesh.lower_cells(CellKind::triangle).num());
}

}  // namespace diffsim
