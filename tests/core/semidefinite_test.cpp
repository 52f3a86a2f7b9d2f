// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/semidefinite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace diffsim::semidefinite_test {
namespace {

constexpr int n = 9;

/// Computes (x, y) ← (c x - s y, s x + c y).
void rotate(double c, double s, double& x, double& y) {
  const double old = x;
  x = c * old - s * y;
  y = s * old + c * y;
}

/// Sets `a` to a symmetric matrix with the given eigenvalues. The eigenvectors are the axes, rotated in each coordinate
/// plane.
void set_with_eigenvalues(const double (&values)[n], double (&a)[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i][j] = i == j ? values[i] : 0.0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      const double angle = 0.3 + 0.7 * i - 0.4 * j, c = std::cos(angle), s = std::sin(angle);
      for (int k = 0; k < n; ++k) rotate(c, s, a[k][i], a[k][j]);
      for (int k = 0; k < n; ++k) rotate(c, s, a[i][k], a[j][k]);
    }
}

void expect_projected(const double (&values)[n]) {
  double a[n][n], expected[n][n], above[n];
  for (int i = 0; i < n; ++i) above[i] = std::max(values[i], 0.0);
  set_with_eigenvalues(values, a);
  set_with_eigenvalues(above, expected);
  make_semidefinite(a);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) EXPECT_NEAR(a[i][j], expected[i][j], 1e-12) << i << ' ' << j;
}

TEST(make_semidefinite, makes_negative_eigenvalues_zero) {
  expect_projected({3.0, -2.0, 0.5, 1.0, 0.0, -0.1, 4.0, 2.0, 0.2});
  expect_projected({3.0, 2.0, 0.5, 1.0, 0.0, 0.1, 4.0, -1e-6, 0.2});
  expect_projected({-3.0, -2.0, -0.5, -1.0, -0.3, -0.1, -4.0, -1.0, -0.2});
  expect_projected({});
}

TEST(make_semidefinite, does_not_hide_a_value_that_is_not_a_number) {
  double a[n][n];
  set_with_eigenvalues({3.0, -2.0, 0.5, 1.0, 0.0, -0.1, 4.0, 2.0, 0.2}, a);
  a[3][2] = a[2][3] = std::nan("");
  make_semidefinite(a);
  EXPECT_TRUE(std::isnan(a[2][2]));
}

TEST(is_semidefinite, is_true_to_rounding) {
  double a[n][n];
  set_with_eigenvalues({3.0, 2.0, 0.5, 1.0, 0.0, 0.0, 4.0, 0.0, 0.2}, a);
  EXPECT_TRUE(is_semidefinite(a));
  set_with_eigenvalues({3.0, 2.0, 0.5, 1.0, 0.0, 0.0, 4.0, -1e-11, 0.2}, a);
  EXPECT_FALSE(is_semidefinite(a));
}

TEST(is_definite, sees_the_smallest_eigenvalue) {
  double a[n][n];
  set_with_eigenvalues({3.0, 2.0, 0.5, 1.0, 0.3, 0.1, 4.0, 1e-9, 0.2}, a);
  EXPECT_TRUE(detail::is_definite(a, 0.0));
  EXPECT_FALSE(detail::is_definite(a, -2e-9));
  a[4][4] = std::nan("");
  EXPECT_FALSE(detail::is_definite(a, 0.0));
}

}  // namespace
}  // namespace diffsim::semidefinite_test
