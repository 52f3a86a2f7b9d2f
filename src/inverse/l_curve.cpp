// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/prior.hpp"

namespace diffsim {

std::optional<std::size_t> l_curve_corner(const std::vector<double>& misfit, const std::vector<double>& prior) {
  if (misfit.size() != prior.size() || misfit.size() < 3)
    throw Error("the corner of an L-curve needs at least three points, each with a misfit and a prior",
                ErrorKind::input);
  // The logarithm of zero is replaced by that of the smallest normal number.
  const auto logarithm = [](double value) { return std::log(std::max(value, std::numeric_limits<double>::min())); };
  const auto step = [&](std::size_t from, std::size_t to) {
    return std::array<double, 2>{logarithm(misfit[to]) - logarithm(misfit[from]),
                                 logarithm(prior[to]) - logarithm(prior[from])};
  };
  const auto length = [](const std::array<double, 2>& v) { return std::hypot(v[0], v[1]); };
  std::optional<std::size_t> corner;
  double largest = 0.0;
  for (std::size_t i = 1; i + 1 < misfit.size(); ++i) {
    const std::array<double, 2> before = step(i - 1, i), after = step(i, i + 1), both = step(i - 1, i + 1);
    const double lengths = length(before) * length(after) * length(both);
    if (!(lengths > 0.0)) continue;
    const double curvature = 2.0 * (before[0] * after[1] - before[1] * after[0]) / lengths;
    if (curvature > largest) {
      largest = curvature;
      corner = i;
    }
  }
  return corner;
}

}  // namespace diffsim
