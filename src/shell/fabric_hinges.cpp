// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/fabric_hinge.hpp"

#include <utility>

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "shell/fabric_terms.hpp"
#include "shell/hinges.hpp"
#include "shell/parameters.hpp"

namespace diffsim {

std::unique_ptr<ForceTerm> make_fabric_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                              const ParameterSpec& given) {
  using Fabric = FabricParameters;
  HingeStencils hinges = hinge_stencils(mesh, triangles, "fabric", std::string(given.name));
  return std::make_unique<StencilTerm<FabricHinge>>(
      "hinges of fabrics", FabricHinge(),
      std::vector{PointParameter::of(Fabric::warp_bending), PointParameter::of(Fabric::weft_bending),
                  PointParameter::of(Fabric::twist_bending), PointParameter::of(Fabric::direction_x),
                  PointParameter::of(Fabric::direction_y), PointParameter::of(Fabric::direction_z)},
      std::move(hinges.vertices), hinges.triangles, mesh.lower_cells(CellKind::triangle).num());
}

}  // namespace diffsim
