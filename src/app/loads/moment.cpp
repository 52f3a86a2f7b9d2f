// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/load_types.hpp"
#include "load/parameters.hpp"

namespace diffsim::app {

LoadType moment_load() {
  return {.parameter = LoadParameters::moment,
          .meaning = "[x, y, z] in N m for each segment",
          .add = [](DifferentiableScene& solver, const BoundaryEntry& entry, const std::vector<double>& values) {
            solver.add_moment(entry.region.name, values);
          }};
}

}  // namespace diffsim::app
