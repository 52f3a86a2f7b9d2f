// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim::inverse {

/// Name of the field of x[0] that an unknown with this parameter name sets, or nullptr.
inline const char* state_field(const std::string& parameter) {
  if (parameter == "initial_positions") return "positions";
  if (parameter == "initial_velocities") return "velocities";
  return nullptr;
}

/// Calls visit(i, j) for every value that an unknown sets: i is its index in the field, j the index of the unknown's
/// value.
template <class Visit>
void for_each_value(const Unknown& unknown, std::size_t entries, int components, Visit&& visit) {
  const auto width = static_cast<std::size_t>(components);
  for (std::size_t e = 0; e < entries; ++e) {
    const std::size_t source = unknown.group.empty() ? e : static_cast<std::size_t>(unknown.group[e]);
    if (!unknown.group.empty() && unknown.group[e] < 0) continue;
    for (std::size_t c = 0; c < width; ++c) visit(width * e + c, width * source + c);
  }
}

/// B u, [entries · components].
inline std::vector<double> mapped(const Unknown& unknown, const std::vector<double>& u) {
  const auto width = static_cast<std::size_t>(unknown.map_numbers);
  std::vector<double> result(unknown.map.size() / width, 0.0);
  for (std::size_t i = 0; i < unknown.map.size(); ++i) result[i / width] += unknown.map[i] * u[i % width];
  return result;
}

/// Bᵀ w, [columns of B]; this rank's contribution to the sum over ranks.
inline std::vector<double> mapped_adjoint(const Unknown& unknown, const std::vector<double>& w) {
  const auto width = static_cast<std::size_t>(unknown.map_numbers);
  std::vector<double> result(width, 0.0);
  for (std::size_t i = 0; i < unknown.map.size(); ++i) result[i % width] += unknown.map[i] * w[i / width];
  return result;
}

}  // namespace diffsim::inverse
