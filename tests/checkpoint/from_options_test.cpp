// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

#include "checkpoint/from_options.hpp"

#include <gtest/gtest.h>

namespace diffsim::from_options_test {
namespace {

TEST(checkpoint_options, have_subdirectories_on_each_level) {
  CheckpointOptions options;
  options.directory = "a/b";
  options.levels = {{1, 0.0, 0.0, ""}, {2, 1.0, 1.0, "/fast"}, {3, 2.0, 2.0, "slow"}};
  use_subdirectory("windows", options);
  EXPECT_EQ(options.directory, "a/b/windows");
  EXPECT_EQ(options.levels[0].directory, "");  // stays in memory
  EXPECT_EQ(options.levels[1].directory, "/fast/windows");
  EXPECT_EQ(options.levels[2].directory, "slow/windows");
}

}  // namespace
}  // namespace diffsim::from_options_test
