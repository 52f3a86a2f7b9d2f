// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace diffsim {

/// Expects the values of meshes refined by two to approach `exact` at second order, and the last to be within
/// `tolerance` of it, relative. DIFFSIM_VERBOSE=1 prints them.
inline void expect_convergence(const std::string& what, const std::vector<double>& values, double exact,
                               double tolerance) {
  const std::size_t last = values.size() - 1;
  const double error = std::abs(values[last] - exact), before = std::abs(values[last - 1] - exact);
  const double order = std::log2(before / error);
  if (std::getenv("DIFFSIM_VERBOSE")) {
    std::printf("%-32s", what.c_str());
    for (const double value : values) std::printf(" %.7f", value);
    std::printf(" exact %.6f, off by %.1e, order %.2f\n", exact, error / std::abs(exact), order);
  }
  EXPECT_LE(error, tolerance * std::abs(exact)) << what;
  EXPECT_NEAR(order, 2.0, 0.25) << what;
}

}  // namespace diffsim
