// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

/// Slopes of losses that were stored on one processor. The vector width changes the order of operations, and the
/// compiler chooses other instructions for other processors; results then differ by rounding errors only.
namespace diffsim::testing_gradient {

/// Returns the name of the current test and of a parameter, as in the file of stored slopes.
inline std::string stored_name(const std::string& parameter) {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test->test_suite_name()) + "." + test->name() + " " + parameter;
}

/// Returns the stored slopes by name, from tests/simulation/stored_slopes.txt. Each line has the name of a test, of a
/// parameter, and the slope.
inline const std::map<std::string, double>& stored_slopes() {
  static const std::map<std::string, double> slopes = [] {
    std::map<std::string, double> read;
    std::ifstream file(DIFFSIM_SOURCE_DIR "/tests/simulation/stored_slopes.txt");
    std::string test, parameter;
    for (double slope = 0.0; file >> test >> parameter >> slope;) read[test + " " + parameter] = slope;
    return read;
  }();
  return slopes;
}

/// Expects the slopes of one rank to agree with the stored ones to a relative error of 2e-11, which is twice the
/// tolerance for different numbers of ranks. After a change of a test's scene, DIFFSIM_STORED_SLOPES=FILE appends the
/// slopes to a file in the format of the stored one instead.
inline void expect_stored(const std::vector<std::string>& names, const std::vector<double>& slopes) {
  constexpr double tolerance = 2e-11;
  if (const char* const path = std::getenv("DIFFSIM_STORED_SLOPES")) {
    std::ofstream file(path, std::ios::app);
    file.precision(15);
    for (std::size_t k = 0; k < names.size(); ++k) file << stored_name(names[k]) << " " << slopes[k] << "\n";
    return;
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto found = stored_slopes().find(stored_name(names[k]));
    if (found == stored_slopes().end()) {
      ADD_FAILURE() << "no stored slope of " << stored_name(names[k]);
      continue;
    }
    EXPECT_NEAR(slopes[k], found->second, tolerance * std::abs(found->second)) << names[k];
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%-28s slope off the stored one by %8.1e of it\n", names[k].c_str(),
                  std::abs(slopes[k] / found->second - 1.0));
  }
}

}  // namespace diffsim::testing_gradient
