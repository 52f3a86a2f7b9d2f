// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "diffsim/core/model.hpp"

namespace diffsim {

/// Parameter to be identified, and the values that represent the parameter in u.
///
/// The Model's parameter has one entry per cell, vertex or step. The unknown may have one value per entry, one value
/// for all entries, or one value per group of entries (region): p_e = u_group(e). `initial_positions` and
/// `initial_velocities` are the names for the fields of x[0].
struct Unknown {
  std::string parameter = {};  ///< name of the Model's parameter
  std::string label = {};      ///< name in files and messages; empty: `parameter`
  /// Group of each of this rank's entries; -1: the entry is not changed. Empty: every entry is an unknown of its own.
  std::vector<int> group = {};
  /// Names of the groups, the same on every rank; one empty name for `global`.
  std::vector<std::string> group_names = {};
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool logarithmic = false;  ///< true: the unknown is ln p
  /// Linear map from few values u to many entries: this rank's rows of the matrix B, [entries · components, values of
  /// u]. All ranks share the values u. p = p0 + B u, or ln p = ln p0 + B u for a logarithmic unknown, where p0 are the
  /// Model's present values. Bounds and `start` (zeros if empty) are those of u. A map cannot be combined with groups.
  std::vector<double> map = {};
  int map_numbers = 0;  ///< number of columns of B; 0: no map
  /// Field of x[0] that moves along: x[0] = p + d with constant d. For `rest_positions`: "positions". Empty: none.
  std::string carries = {};
  std::vector<double> start = {};  ///< [unknowns, components], or one value for all; empty: the Model's present values

  /// Returns true if all ranks share the values of the unknown.
  bool shared() const { return map_numbers > 0 || !group_names.empty(); }
  const std::string& name() const { return label.empty() ? parameter : label; }
};

}  // namespace diffsim
