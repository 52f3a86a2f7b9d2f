// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/shell_model.hpp"

#include "mesh/cell_mass.hpp"
#include "shell/membrane_energy.hpp"
#include "shell/neo_hookean_membrane.hpp"
#include "shell/parameters.hpp"
#include "shell/plate_term.hpp"
#include "shell/shell_membranes.hpp"

namespace diffsim {
namespace {

using Shell = ShellParameters;

constexpr const char* const st_venant_kirchhoff = "st_venant_kirchhoff";
constexpr const char* const neo_hookean = "neo_hookean";

std::vector<std::unique_ptr<ForceTerm>> make_shell_terms(const TetrahedralMesh& mesh, const ModelCells& cells) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  for (const auto& [law, triangles] : cells.of_law)
    terms.push_back(law == neo_hookean
                        ? make_shell_membranes<NeoHookeanMembrane>("Neo-Hookean membranes of shells", mesh, triangles)
                        : make_shell_membranes<MembraneEnergy>("membranes of shells", mesh, triangles));
  terms.push_back(make_plate_term(mesh, cells.all));
  return terms;
}

}  // namespace

const CellModel& shell_model() {
  static const CellModel model{
      "shell",
      CellKind::triangle,
      50.0,
      {Shell::youngs_modulus, Shell::poisson_ratio, Shell::thickness, Shell::rest_curvature, Shell::density},
      {},
      make_shell_terms,
      [](const TetrahedralMesh& mesh) {
        return make_cell_mass(mesh, CellKind::triangle, Shell::density.name, Shell::thickness.name);
      },
      {{std::string(Shell::youngs_modulus.name), "youngs_modulus"},
       {std::string(Shell::poisson_ratio.name), "poisson_ratio"},
       {std::string(Shell::thickness.name), "thickness"},
       {std::string(Shell::rest_curvature.name), "rest_curvature"},
       {std::string(Shell::density.name), "density"}},
      {std::string(Shell::thickness.name)},
      {st_venant_kirchhoff, neo_hookean}};
  return model;
}

}  // namespace diffsim
