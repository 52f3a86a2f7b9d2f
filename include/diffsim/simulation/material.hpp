// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace diffsim {

/// One number, or one for each of this rank's cells of the whole mesh, in local order.
using CellValues = std::variant<double, std::vector<double>>;

/// Parameters that any material may have besides its law's, and the mechanism that each belongs to.
const std::vector<std::pair<std::string, std::string>>& damping_parameters();

/// A law of elasticity with its parameters, for a region of the mesh.
struct DifferentiableMaterial {
  std::string model = "neo_hookean";  ///< see `elastic_laws`
  /// By name: `density` (kg/m³), the law's parameters (`youngs_modulus`, Pa; `poisson_ratio`; …), and those of damping:
  /// `viscosity`, `bulk_viscosity` (Pa s), `rayleigh_damping` (1/s), `drag` (N s/m⁴).
  std::map<std::string, CellValues> values;
  std::string region = "all";
  /// Linear cells share their change of volume around each vertex, so that nearly incompressible bodies bend where they
  /// would lock; explicit steps only. `dilatation: nodal` in scenes.
  bool nodal_dilatation = false;
};

}  // namespace diffsim
