// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/shell/shell_model.hpp"

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/cell_mass.hpp"
#include "diffsim/shell/parameters.hpp"
#include "diffsim/shell/plate_term.hpp"
#include "diffsim/shell/shell_membrane.hpp"
#include "shell/triangle_corners.hpp"

namespace diffsim {
namespace {

using Shell = ShellParameters;

std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                                   const std::function<bool(std::string_view)>&) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(std::make_unique<StencilTerm<ShellMembrane>>(
      "membranes of shells", ShellMembrane(),
      std::vector{PointParameter::of(Shell::youngs_modulus), PointParameter::of(Shell::poisson_ratio),
                  PointParameter::of(Shell::thickness)},
      triangle_corners(mesh, triangles), triangles, mesh.lower_cells(CellKind::triangle).num()));
  terms.push_back(make_plate_term(mesh, triangles));
  return terms;
}

}  // namespace

const CellModel& shell_model() {
  static const CellModel model{
      "shell",
      CellKind::triangle,
      {Shell::youngs_modulus, Shell::poisson_ratio, Shell::thickness, Shell::rest_curvature, Shell::density},
      {},
      make_terms,
      [](const TetrahedralMesh& mesh) {
        return make_cell_mass(mesh, CellKind::triangle, Shell::density.name, Shell::thickness.name);
      },
      {{std::string(Shell::youngs_modulus.name), "youngs_modulus"},
       {std::string(Shell::poisson_ratio.name), "poisson_ratio"},
       {std::string(Shell::thickness.name), "thickness"},
       {std::string(Shell::rest_curvature.name), "rest_curvature"},
       {std::string(Shell::density.name), "density"}},
      {std::string(Shell::thickness.name)},
      {"st_venant_kirchhoff"}};
  return model;
}

}  // namespace diffsim
