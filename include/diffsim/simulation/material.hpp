// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "diffsim/mesh/cell_model.hpp"

namespace diffsim {

/// One number, or one for each of this rank's cells of the whole mesh, in local order: of those of the model's kind,
/// and for a parameter of vertices one for each owned vertex. A parameter that may vary by step has so many for each
/// step.
using CellValues = std::variant<double, std::vector<double>>;

/// Parameters that any material may have besides its law's, and the mechanism that each belongs to.
const std::vector<std::pair<std::string, std::string>>& damping_parameters();

/// Models of bodies whose cells are no tetrahedra: `springs`, `cloth`, `shell`, `rope`, …
const std::vector<const CellModel*>& cell_models();
/// Model of that name, or nullptr.
const CellModel* find_cell_model(const std::string& name);

/// A law of elasticity, or a model of other cells, with its parameters, for a region of the mesh.
struct DifferentiableMaterial {
  std::string model = "neo_hookean";  ///< see `elastic_laws` and `cell_models`
  /// By name: `density` (kg/m³), the law's parameters (`youngs_modulus`, Pa; `poisson_ratio`; …), and those of damping:
  /// `viscosity`, `bulk_viscosity` (Pa s), `rayleigh_damping` (1/s), `drag` (N s/m⁴). Of other cells: their model's.
  std::map<std::string, CellValues> values = {};
  std::string region = "all";
  /// Linear cells share their change of volume around each vertex, so that nearly incompressible bodies bend where they
  /// would lock; explicit steps only. `dilatation: nodal` in scenes.
  bool nodal_dilatation = false;
  /// One of the laws of a model of other cells than tetrahedra (`CellModel::laws`); empty: the first of them.
  std::string law = {};
};

}  // namespace diffsim
