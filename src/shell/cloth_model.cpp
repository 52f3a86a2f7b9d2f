// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/cloth_model.hpp"

#include "diffsim/core/stencil_term_impl.hpp"
#include "mesh/cell_mass.hpp"
#include "shell/hinges.hpp"
#include "shell/membrane_energy.hpp"
#include "shell/parameters.hpp"
#include "shell/triangle_corners.hpp"

namespace diffsim {
namespace {

using Cloth = ClothParameters;

std::unique_ptr<ForceTerm> make_membrane(const TetrahedralMesh& mesh, const std::vector<int>& triangles) {
  return std::make_unique<StencilTerm<MembraneEnergy>>(
      "membranes", MembraneEnergy(),
      std::vector{PointParameter::of(Cloth::stiffness), PointParameter::of(Cloth::poisson_ratio)},
      triangle_corners(mesh, triangles), triangles, mesh.lower_cells(CellKind::triangle).num());
}

std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const ModelCells& cells) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(make_membrane(mesh, cells.all));
  if (cells.given(Cloth::bending.name)) terms.push_back(make_hinges(mesh, cells.all, "cloth", Cloth::bending));
  return terms;
}

}  // namespace

const CellModel& cloth_model() {
  static const CellModel model{
      "cloth",
      CellKind::triangle,
      20.0,
      {Cloth::stiffness, Cloth::poisson_ratio, Cloth::bending, Cloth::density},
      {},
      make_terms,
      [](const TetrahedralMesh& mesh) { return make_cell_mass(mesh, CellKind::triangle, Cloth::density.name); }};
  return model;
}

}  // namespace diffsim
