// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/fabric_model.hpp"

#include <cmath>
#include <string>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "mesh/bodies.hpp"
#include "mesh/cell_mass.hpp"
#include "shell/fabric_strain.hpp"
#include "shell/fabric_terms.hpp"
#include "shell/hinges.hpp"
#include "shell/parameters.hpp"
#include "shell/triangle_corners.hpp"

namespace diffsim {
namespace {

using Fabric = FabricParameters;

std::vector<std::unique_ptr<ForceTerm>> make_fabric_terms(const TetrahedralMesh& mesh, const ModelCells& cells) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(make_fabric_membranes(mesh, cells.all));
  if (cells.given(Fabric::strain_limit.name)) terms.push_back(make_fabric_limits(mesh, cells.all));
  if (cells.given(Fabric::bending.name)) terms.push_back(make_hinges(mesh, cells.all, "fabric", Fabric::bending));
  for (const ParameterSpec* spec : {&Fabric::warp_bending, &Fabric::weft_bending, &Fabric::twist_bending})
    if (cells.given(spec->name)) {
      terms.push_back(make_fabric_hinges(mesh, cells.all, *spec));
      break;
    }
  return terms;
}

/// Throws Error (input) if the direction a of the warp is nearly perpendicular to a triangle, that is, if the component
/// of a in the plane of the triangle has a length of at most 1e-6 |a|.
void check_directions(const TetrahedralMesh& mesh, const std::vector<int>& triangles, const ParameterSet& parameters) {
  std::vector<double> direction[3];
  const ParameterSpec* const specs[] = {&Fabric::direction_x, &Fabric::direction_y, &Fabric::direction_z};
  for (int c = 0; c < 3; ++c) direction[c] = parameters.at(std::string(specs[c]->name)).field.to_host();
  const std::vector<int> corners = triangle_corners(mesh, triangles);
  for (std::size_t k = 0; k < triangles.size(); ++k) {
    const auto triangle = static_cast<std::size_t>(triangles[k]);
    StencilValues<double, 3, 0> at{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        at.X[i][static_cast<int>(c)] = mesh.rest_positions()[3 * static_cast<std::size_t>(corners[3 * k + i]) + c];
    const Vec3<double> a{{direction[0][triangle], direction[1][triangle], direction[2][triangle]}};
    if (FabricStrain<double>(at, a).length > 1e-6 * std::sqrt(dot(a, a))) continue;
    throw Error(
        "triangle " +
            cell_name(mesh.bodies(), mesh.cell_order(CellKind::triangle).file_index()[triangle], CellKind::triangle) +
            " has no warp direction: the vector (fabric_direction_x, fabric_direction_y, fabric_direction_z) is "
            "perpendicular to the triangle; give a vector in or near the triangle's plane",
        ErrorKind::input);
  }
}

}  // namespace

const CellModel& fabric_model() {
  static const CellModel model{
      "fabric",
      CellKind::triangle,
      25.0,
      {Fabric::warp_stiffness, Fabric::weft_stiffness, Fabric::shear_stiffness, Fabric::poisson_ratio,
       Fabric::strain_limit, Fabric::bending, Fabric::warp_bending, Fabric::weft_bending, Fabric::twist_bending,
       Fabric::direction_x, Fabric::direction_y, Fabric::direction_z, Fabric::density},
      {},
      make_fabric_terms,
      [](const TetrahedralMesh& mesh) { return make_cell_mass(mesh, CellKind::triangle, Fabric::density.name); },
      {{std::string(Fabric::warp_stiffness.name), "warp_stiffness"},
       {std::string(Fabric::weft_stiffness.name), "weft_stiffness"},
       {std::string(Fabric::shear_stiffness.name), "shear_stiffness"},
       {std::string(Fabric::poisson_ratio.name), "poisson_ratio"},
       {std::string(Fabric::strain_limit.name), "strain_limit"},
       {std::string(Fabric::bending.name), "bending"},
       {std::string(Fabric::warp_bending.name), "warp_bending"},
       {std::string(Fabric::weft_bending.name), "weft_bending"},
       {std::string(Fabric::twist_bending.name), "twist_bending"},
       {std::string(Fabric::direction_x.name), "direction_x"},
       {std::string(Fabric::direction_y.name), "direction_y"},
       {std::string(Fabric::direction_z.name), "direction_z"},
       {std::string(Fabric::density.name), "density"}},
      {},
      {},
      false,
      check_directions};
  return model;
}

}  // namespace diffsim
