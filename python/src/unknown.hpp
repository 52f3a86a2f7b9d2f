// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/inverse/unknown.hpp"

namespace diffsim::python {

/// Options of the Python class ShapeFilter.
struct ShapeFilterOptions {
  double radius;
  std::vector<std::string> fixed;
  std::array<bool, 3> moves;
};

/// Options of the Python class Unknown. If `together`, all entries of the parameter share one value.
struct UnknownOptions {
  Unknown unknown;
  bool together = false;
  double filter = 0.0;                              ///< radius of the filter of a distribution, m; 0 for no filter
  std::vector<std::string> solid = {}, voids = {};  ///< regions of a distribution with prescribed densities
  std::optional<ShapeFilterOptions> shape_filter = {};
  std::vector<std::string> joints = {};  ///< joints whose initial coordinates or rates are the values
};

/// Binds the Python classes Unknown, MaterialDistribution and ShapeFilter.
void bind_unknown(nanobind::module_& module);

}  // namespace diffsim::python
