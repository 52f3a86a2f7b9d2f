// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/stencil_term_impl.hpp"
#include "shell/fabric_limit.hpp"
#include "shell/fabric_terms.hpp"
#include "shell/parameters.hpp"
#include "shell/triangle_corners.hpp"

namespace diffsim {

std::unique_ptr<ForceTerm> make_fabric_limits(const TetrahedralMesh& mesh, const std::vector<int>& triangles) {
  using Fabric = FabricParameters;
  return std::make_unique<StencilTerm<FabricLimit>>(
      "limits of threads", FabricLimit(),
      std::vector{PointParameter::of(Fabric::warp_stiffness), PointParameter::of(Fabric::weft_stiffness),
                  PointParameter::of(Fabric::strain_limit), PointParameter::of(Fabric::direction_x),
                  PointParameter::of(Fabric::direction_y), PointParameter::of(Fabric::direction_z)},
      triangle_corners(mesh, triangles), triangles, mesh.lower_cells(CellKind::triangle).num());
}

}  // namespace diffsim
