// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/load_types.hpp"
#include "load/parameters.hpp"

namespace diffsim::app {

LoadType traction_load() {
  return {.parameter = LoadParameters::traction,
          .meaning = "[x, y, z] in Pa",
          .add = [](DifferentiableScene& solver, const BoundaryEntry& entry, const std::vector<double>& values) {
            solver.add_traction(entry.region.name, values);
          }};
}

}  // namespace diffsim::app
