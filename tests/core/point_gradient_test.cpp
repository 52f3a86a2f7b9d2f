// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/point_gradient.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/dual_tensor.hpp"

namespace diffsim::point_gradient_test {
namespace {

/// Function that uses every operation of PointGradient, on scalars with derivative parts of all kinds and without any.
template <class T>
T everything(const Mat3<T>& F, const T& p) {
  const Mat3<T> C = transpose(F) * F;
  const Mat3<T> E = T(0.5) * (C - Mat3<T>::identity());
  const T J = determinant(F), I = inner(F, F);
  T sum = p * (I - 3.0) - log(J) / (2.0 + I) + exp(-0.3 * J) * F(1, 2) + inner(E, C) + inner(C, C);
  sum += sqrt(1.0 + trace(C)) - determinant(times_transpose(C, F)) / J;
  sum -= pow(J, 1.5) * 0.25;
  sum *= 2.0 - F(0, 1) / 3.0;
  sum /= p + J * J;
  return sum + inner(cofactor(F), F) - 1.0 / (I + p);
}

const Mat3<double> sample{{{1.1, 0.2, -0.1}, {0.05, 0.9, 0.3}, {-0.2, 0.1, 1.2}}};

TEST(point_gradient, is_the_gradient_by_nine_directions) {
  using D = Dual<double, 9>;
  Mat3<D> seeded;
  Mat3<PointGradient<double>> variable;
  detail::set_variables(sample, variable);
  for (int k = 0; k < 9; ++k) seeded(k / 3, k % 3) = D::variable(sample(k / 3, k % 3), k);
  const D expected = everything(seeded, D(0.7));
  const PointGradient<double> found = everything(variable, PointGradient<double>(0.7));
  const Mat3<double> P = gradient_of(found, sample);
  EXPECT_NEAR(found.value, expected.value, 1e-13);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(P(k / 3, k % 3), expected.derivative[k], 1e-12);
}

TEST(point_gradient, nests) {
  using Along = Dual<double, 1>;
  using D = Dual<Along, 9>;
  Mat3<Along> F;
  for (int k = 0; k < 9; ++k) F(k / 3, k % 3) = Along(sample(k / 3, k % 3));
  F(0, 2).derivative[0] = 1.0;
  F(1, 1).derivative[0] = -2.0;
  Mat3<D> seeded;
  Mat3<PointGradient<Along>> variable;
  detail::set_variables(F, variable);
  for (int k = 0; k < 9; ++k) seeded(k / 3, k % 3) = D::variable(F(k / 3, k % 3), k);
  const D expected = everything(seeded, D(0.7));
  const Mat3<Along> P = gradient_of(everything(variable, PointGradient<Along>(0.7)), F);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(P(k / 3, k % 3).derivative[0], expected.derivative[k].derivative[0], 1e-11);
}

TEST(point_gradient, has_no_parts_that_a_function_does_not) {
  Mat3<PointGradient<double>> F;
  detail::set_variables(sample, F);
  EXPECT_EQ(determinant(F).parts, 1u << PointGradient<double>::by_determinant);
  EXPECT_EQ((inner(F, F) * 2.0 + 1.0).parts, 1u << PointGradient<double>::by_square);
  EXPECT_EQ((F(0, 1) * F(2, 2)).parts, (1u << 1) | (1u << 8));
  EXPECT_EQ((PointGradient<double>(2.0) * PointGradient<double>(3.0)).parts, 0u);
}

}  // namespace
}  // namespace diffsim::point_gradient_test
