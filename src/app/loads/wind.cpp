// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/load_types.hpp"
#include "load/parameters.hpp"

namespace diffsim::app {

LoadType wind_load() {
  return {.parameter = LoadParameters::wind,
          .meaning = "[x, y, z] in m/s",
          .coefficients = {{"drag", LoadParameters::wind_drag, "density times drag coefficient, such as 1.4"}},
          .is_additive = false,
          .add = [](DifferentiableScene& solver, const BoundaryEntry& entry, const std::vector<double>& values) {
            solver.add_wind(entry.region.name, values, entry.coefficients.front());
          }};
}

}  // namespace diffsim::app
