// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/nearest_word.hpp"

#include <gtest/gtest.h>

namespace diffsim::nearest_word_test {
namespace {

TEST(nearest_word, is_the_one_with_the_fewest_changes) {
  const std::vector<std::string> words{"youngs_modulus", "poisson_ratio", "density", "dt"};
  EXPECT_EQ(nearest("young_modulus", words), "youngs_modulus");
  EXPECT_EQ(nearest("youngs", words), "youngs_modulus");
  EXPECT_EQ(nearest("Dt", words), "dt");
  EXPECT_EQ(nearest("friction", words), "");
}

}  // namespace
}  // namespace diffsim::nearest_word_test
