// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "diffsim/core/model.hpp"

namespace diffsim {

/// A parameter to be found, and the few or many numbers it is found by.
///
/// The Model's parameter has one entry a cell, vertex or step; the unknown may have as many, or one for all, or one for
/// each of some groups of entries (regions): p_e = u_group(e). `initial_positions` and `initial_velocities` stand for
/// x[0].
struct Unknown {
  std::string parameter;  ///< of the Model
  std::string label;      ///< in files and messages; empty: `parameter`
  /// Empty: every entry is an unknown of its own. Else the group of each of this rank's entries, or -1: not touched.
  std::vector<int> group;
  std::vector<std::string> group_names;  ///< the groups, the same on every rank; one without a name for `global`
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool logarithmic = false;  ///< searched as ln p
  /// A linear map of few numbers u to many entries: this rank's rows of B [entries · components, numbers], with the
  /// same numbers on every rank: p = p0 + B u, or ln p = ln p0 + B u where searched in the logarithm, p0 the Model's
  /// present values. Bounds and `start` (zeros if empty) are of u. Goes without groups.
  std::vector<double> map;
  int map_numbers = 0;
  /// A field of x[0] that moves along: x[0] = p + d, d constant. For `rest_positions`: "positions". Empty: none.
  std::string carries;
  std::vector<double> start;  ///< [unknowns, components], or one number for all; empty: the Model's present values

  /// Whether all ranks share its numbers.
  bool shared() const { return map_numbers > 0 || !group_names.empty(); }
  const std::string& name() const { return label.empty() ? parameter : label; }
};

}  // namespace diffsim
