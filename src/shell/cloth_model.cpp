// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/shell/cloth_model.hpp"

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/cell_mass.hpp"
#include "diffsim/mesh/manifold.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/shell/hinge_energy.hpp"
#include "diffsim/shell/membrane_energy.hpp"
#include "diffsim/shell/parameters.hpp"

namespace diffsim {
namespace {

using Cloth = ClothParameters;

std::unique_ptr<ForceTerm> make_membrane(const TetrahedralMesh& mesh, const std::vector<int>& triangles) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::triangle);
  std::vector<int> vertices;
  for (const int triangle : triangles)
    for (std::size_t a = 0; a < 3; ++a) vertices.push_back(all.vertices[3 * static_cast<std::size_t>(triangle) + a]);
  return std::make_unique<StencilTerm<MembraneEnergy>>(
      "membranes", MembraneEnergy(),
      std::vector{PointParameter::of(Cloth::stiffness), PointParameter::of(Cloth::poisson_ratio)}, std::move(vertices),
      triangles, all.num());
}

std::unique_ptr<ForceTerm> make_hinges(const TetrahedralMesh& mesh, const std::vector<int>& triangles) {
  require_manifold(mesh, CellKind::triangle, triangles, "cloth with cloth_bending", "cloth_bending");
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
  return std::make_unique<StencilTerm<HingeEnergy>>("hinges", HingeEnergy(),
                                                    std::vector{PointParameter::of(Cloth::bending)},
                                                    std::move(vertices), of_triangle, all.num());
}

std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                                   const std::function<bool(std::string_view)>& given) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(make_membrane(mesh, triangles));
  if (given(Cloth::bending.name)) terms.push_back(make_hinges(mesh, triangles));
  return terms;
}

}  // namespace

const CellModel& cloth_model() {
  static const CellModel model{
      "cloth",
      CellKind::triangle,
      {Cloth::stiffness, Cloth::poisson_ratio, Cloth::bending, Cloth::density},
      {},
      make_terms,
      [](const TetrahedralMesh& mesh) { return make_cell_mass(mesh, CellKind::triangle, Cloth::density.name); }};
  return model;
}

}  // namespace diffsim
