// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/symmetric_eigen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace diffsim::symmetric_eigen_test {
namespace {

/// Random symmetric matrix with entries of the order of `scale`.
template <int n>
void set_random(std::mt19937_64& random, double scale, double (&a)[n][n]) {
  std::normal_distribution<double> normal;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) a[i][j] = a[j][i] = scale * normal(random);
}

/// Checks that A Q = Q diag(λ), QᵀQ = I and that nothing is left outside of the diagonal.
template <int n>
void expect_decomposition(const double (&before)[n][n], const double (&a)[n][n], const double (&q)[n][n]) {
  double size = 0.0;
  for (const auto& row : before)
    for (const double value : row) size = std::max(size, std::abs(value));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double product = 0.0, dot = 0.0;
      for (int k = 0; k < n; ++k) {
        product += before[i][k] * q[k][j];
        dot += q[k][i] * q[k][j];
      }
      EXPECT_NEAR(product, a[j][j] * q[i][j], 1e-14 * n * size) << i << ' ' << j;
      EXPECT_NEAR(dot, i == j ? 1.0 : 0.0, 1e-14 * n) << i << ' ' << j;
      EXPECT_LE(i == j ? 0.0 : std::abs(a[i][j]), 1e-17 * n * n * size) << i << ' ' << j;
    }
}

template <int n>
void expect_diagonalised(const double (&before)[n][n]) {
  double a[n][n], q[n][n];
  std::copy_n(&before[0][0], n * n, &a[0][0]);
  diagonalise(a, q);
  expect_decomposition(before, a, q);
}

TEST(diagonalise, decomposes_random_matrices) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    const double scale = std::pow(10.0, round % 21 - 10);
    double small[3][3], large[12][12];
    set_random(random, scale, small);
    set_random(random, scale, large);
    expect_diagonalised(small);
    expect_diagonalised(large);
  }
}

TEST(diagonalise, decomposes_matrices_with_repeated_eigenvalues) {
  // I + v vᵀ with eigenvalues 1, 1, 1, 1 + |v|².
  double a[4][4];
  const double v[4] = {0.3, -0.5, 0.2, 0.7};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) a[i][j] = (i == j ? 1.0 : 0.0) + v[i] * v[j];
  expect_diagonalised(a);
  double q[4][4];
  diagonalise(a, q);
  std::vector<double> values{a[0][0], a[1][1], a[2][2], a[3][3]};
  std::sort(values.begin(), values.end());
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(values[static_cast<std::size_t>(k)], 1.0, 1e-14);
  EXPECT_NEAR(values[3], 1.87, 1e-14);
}

TEST(diagonalise, leaves_diagonal_matrices_alone) {
  for (const double scale : {0.0, 1.0, 1e-200}) {
    double a[3][3] = {{2.0 * scale, 0.0, 0.0}, {0.0, -scale, 0.0}, {0.0, 0.0, 2.0 * scale}}, q[3][3];
    diagonalise(a, q);
    EXPECT_EQ(a[0][0], 2.0 * scale);
    EXPECT_EQ(a[1][1], -scale);
    EXPECT_EQ(a[2][2], 2.0 * scale);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) EXPECT_EQ(q[i][j], i == j ? 1.0 : 0.0);
  }
}

/// Lanes with matrices that converge after different numbers of sweeps.
TEST(diagonalise, decomposes_all_lanes_of_a_pack) {
  std::mt19937_64 random(11);
  std::vector<double> matrices(static_cast<std::size_t>(9 * pack_width), 0.0);
  Pack a[3][3], q[3][3];
  for (int l = 0; l < pack_width; ++l) {
    double one[3][3] = {};
    if (l > 0) set_random(random, std::pow(10.0, 4 * l - 8), one);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        matrices[static_cast<std::size_t>(9 * l + 3 * i + j)] = one[i][j];
        set_lane(a[i][j], l, one[i][j]);
      }
  }
  diagonalise(a, q);
  for (int l = 0; l < pack_width; ++l) {
    double before[3][3], after[3][3], vectors[3][3];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        before[i][j] = matrices[static_cast<std::size_t>(9 * l + 3 * i + j)];
        after[i][j] = lane(a[i][j], l);
        vectors[i][j] = lane(q[i][j], l);
      }
    expect_decomposition(before, after, vectors);
  }
}

}  // namespace
}  // namespace diffsim::symmetric_eigen_test
