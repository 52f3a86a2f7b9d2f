// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Search for the best split in a dynamic programme.

#include "checkpoint/least_sum.hpp"

#include <gtest/gtest.h>

#include <random>

namespace diffsim::least_sum_test {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Random values, many of them equal, with or without an increasing trend, some infinite.
TEST(LeastSum, IsThatOfAllSums) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t most = 1 + random() % 400;
    const double slope = trial % 3 == 0 ? 0.0 : 0.3 * (trial % 4), unit = trial % 2 == 0 ? 1.0 : 0.1;
    std::vector<double> a(most + 1, never), b(most + 1, never);
    checkpoint::LeastSum sums(most);
    for (std::size_t l = 1; l <= most; ++l) {
      double least = never;
      int at = 0;
      for (std::size_t m = 1; m < l; ++m) {
        if (a[m] + b[l - m] >= least) continue;
        least = a[m] + b[l - m];
        at = static_cast<int>(m);
      }
      if (l > 1) {
        ASSERT_EQ(sums.next(), std::pair(least, at)) << trial << ", " << l << " of " << most;
      }
      const auto next = [&] {
        return trial % 5 == 0 && random() % 8 == 0
                   ? never
                   : unit * (slope * static_cast<double>(l) + static_cast<double>(random() % 6));
      };
      a[l] = next();
      b[l] = next();
      sums.add(a[l], b[l]);
    }
  }
}

}  // namespace
}  // namespace diffsim::least_sum_test
