// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/stencil_term_impl.hpp"
#include "shell/parameters.hpp"
#include "shell/shell_membrane.hpp"
#include "shell/shell_membranes.hpp"
#include "shell/triangle_corners.hpp"

namespace diffsim {

template <class Membrane>
std::unique_ptr<ForceTerm> make_shell_membranes(const std::string& name, const TetrahedralMesh& mesh,
                                                const std::vector<int>& triangles) {
  using Shell = ShellParameters;
  return std::make_unique<StencilTerm<ShellMembrane<Membrane>>>(
      name, ShellMembrane<Membrane>(),
      std::vector{PointParameter::of(Shell::youngs_modulus), PointParameter::of(Shell::poisson_ratio),
                  PointParameter::of(Shell::thickness)},
      triangle_corners(mesh, triangles), triangles, mesh.lower_cells(CellKind::triangle).num());
}

}  // namespace diffsim
