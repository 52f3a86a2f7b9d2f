// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace diffsim {

/// One number, or one for each of this rank's cells of the whole mesh, in local order.
using CellValues = std::variant<double, std::vector<double>>;

/// A law of elasticity with its parameters, for a region of the mesh.
struct DifferentiableMaterial {
  std::string model = "neo_hookean";  ///< see `elastic_laws`
  /// By name: `density` (kg/m³) and the law's parameters (`youngs_modulus`, Pa; `poisson_ratio`).
  std::map<std::string, CellValues> values;
  std::string region = "all";
};

}  // namespace diffsim
