// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/covariance.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "error_text.hpp"

namespace diffsim::covariance_test {
namespace {

TEST(covariance, inverse_times_the_matrix_is_the_identity) {
  const std::vector<double> C{4.0, 1.0, 0.3, 1.0, 2.0, 0.5, 0.3, 0.5, 1.0}, inverse = inverse_of_covariance(C, 3);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 3; ++k) sum += inverse[3 * i + k] * C[3 * k + j];
      EXPECT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-14) << i << ' ' << j;
    }
}

TEST(covariance, matrices_that_are_no_covariances_are_refused) {
  const auto error = [](const std::vector<double>& C) { return error_of([&] { inverse_of_covariance(C, 2); }); };
  EXPECT_EQ(error({1.0}), "a covariance matrix of 2 values needs 4 entries, but has 1");
  EXPECT_EQ(error({1.0, 0.5, 0.0, 1.0}), "the covariance matrix is not symmetric: entries (1, 0) and (0, 1) differ");
  EXPECT_EQ(error({1.0, 2.0, 2.0, 1.0}),
            "the covariance matrix is not positive definite: its leading 2 × 2 block has a determinant that is not "
            "positive");
}

}  // namespace
}  // namespace diffsim::covariance_test
