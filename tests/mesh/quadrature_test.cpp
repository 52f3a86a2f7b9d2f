// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/impl/quadrature.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace diffsim::quadrature_test {
namespace {

template <class Rule>
class Quadrature : public testing::Test {};
using Rules = testing::Types<OnePoint, FourPoints, FourteenPoints>;
TYPED_TEST_SUITE(Quadrature, Rules);

TYPED_TEST(Quadrature, PointsAreInsideAndWeightsPositive) {
  const TypeParam rule{};
  for (int q = 0; q < TypeParam::num_points; ++q) {
    EXPECT_GT(rule.weight(q), 0.0);
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
      EXPECT_GT(rule.barycentric(q, i), 0.0);
      sum += rule.barycentric(q, i);
    }
    EXPECT_NEAR(sum, 1.0, 4e-16);
  }
}

/// Error of a rule for ∫ x^a y^b z^c over the reference tetrahedron. The exact value is a! b! c! / (a + b + c + 3)!.
template <class Rule>
double error_of(const Rule& rule, int a, int b, int c) {
  double sum = 0.0;
  for (int q = 0; q < Rule::num_points; ++q)
    sum += rule.weight(q) * std::pow(rule.barycentric(q, 1), a) * std::pow(rule.barycentric(q, 2), b) *
           std::pow(rule.barycentric(q, 3), c);
  return sum - std::tgamma(a + 1) * std::tgamma(b + 1) * std::tgamma(c + 1) / std::tgamma(a + b + c + 4);
}

TYPED_TEST(Quadrature, IsExactToItsDegreeAndNoFurther) {
  constexpr int degree = TypeParam::degree;
  const TypeParam rule{};
  double beyond = 0.0;
  for (int a = 0; a <= degree + 1; ++a)
    for (int b = 0; a + b <= degree + 1; ++b)
      for (int c = 0; a + b + c <= degree + 1; ++c) {
        const double error = std::abs(error_of(rule, a, b, c));
        if (a + b + c <= degree)
          EXPECT_LE(error, 1e-15) << a << b << c;
        else
          beyond = std::max(beyond, error);
      }
  EXPECT_GT(beyond, 1e-6);
}

}  // namespace
}  // namespace diffsim::quadrature_test
