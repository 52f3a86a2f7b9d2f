// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace diffsim {

/// Expects `values`, computed on meshes that are refined by factors of 2, to converge to `exact` at second order.
/// Expects the relative error of the last value to be at most `tolerance`. DIFFSIM_VERBOSE=1 prints the values.
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
