// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/small_tensor.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/impl/dual.hpp"

namespace diffsim::small_tensor_test {
namespace {

const Mat3<double> A{{{2.0, 0.5, -1.0}, {0.25, 3.0, 0.75}, {-0.5, 1.0, 1.5}}};
const Mat3<double> B{{{0.1, -0.7, 0.4}, {0.9, 0.2, -0.3}, {0.6, -0.8, 0.5}}};

TEST(small_tensor, inverse_times_matrix_is_identity) {
  const Mat3<double> I = inverse(A) * A;
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(I(i / 3, i % 3), i / 3 == i % 3 ? 1.0 : 0.0, 1e-15);
}

TEST(small_tensor, cofactor_is_the_derivative_of_the_determinant) {
  using D = Dual<double, 9>;
  Mat3<D> variable;
  for (int i = 0; i < 9; ++i) variable(i / 3, i % 3) = D::variable(A(i / 3, i % 3), i);
  const D det = determinant(variable);
  const Mat3<double> cof = cofactor(A);
  EXPECT_NEAR(det.value, determinant(A), 1e-15);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(det.derivative[i], cof(i / 3, i % 3), 1e-14);
}

TEST(small_tensor, cofactor_derivative_agrees_with_dual_numbers) {
  using D = Dual<double, 1>;
  Mat3<D> along;
  for (int i = 0; i < 9; ++i) {
    along(i / 3, i % 3).value = A(i / 3, i % 3);
    along(i / 3, i % 3).derivative[0] = B(i / 3, i % 3);
  }
  const Mat3<D> exact = cofactor(along);
  const Mat3<double> hand = cofactor_derivative(A, B);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(hand(i / 3, i % 3), exact(i / 3, i % 3).derivative[0], 1e-14);
}

TEST(small_tensor, products_agree_with_sums) {
  const Mat3<double> AB = A * B, ABt = times_transpose(A, B);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double ab = 0.0, abt = 0.0;
      for (int k = 0; k < 3; ++k) {
        ab += A(i, k) * B(k, j);
        abt += A(i, k) * B(j, k);
      }
      EXPECT_DOUBLE_EQ(AB(i, j), ab);
      EXPECT_DOUBLE_EQ(ABt(i, j), abt);
    }
  EXPECT_DOUBLE_EQ(inner(A, B), trace(transpose(A) * B));
}

}  // namespace
}  // namespace diffsim::small_tensor_test
