// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/dual.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace diffsim::dual_test {
namespace {

template <class T>
T expression(const T& x, const T& y) {
  return log(x * x + 2.0) * sqrt(y) / (1.0 + x) - 3.0 * exp(-(x * y)) + pow(y, 1.7) - x / 4.0 + 2.0 / y;
}

TEST(dual, first_derivatives_agree_with_hand_calculation) {
  using D = Dual<double, 2>;
  const double x = 0.6, y = 1.3;
  const D f = expression(D::variable(x, 0), D::variable(y, 1));
  const double g = std::log(x * x + 2.0), r = std::sqrt(y);
  const double fx =
      2.0 * x / (x * x + 2.0) * r / (1.0 + x) - g * r / ((1.0 + x) * (1.0 + x)) + 3.0 * y * std::exp(-x * y) - 0.25;
  const double fy = g * 0.5 / r / (1.0 + x) + 3.0 * x * std::exp(-x * y) + 1.7 * std::pow(y, 0.7) - 2.0 / (y * y);
  EXPECT_NEAR(f.derivative[0], fx, 1e-14);
  EXPECT_NEAR(f.derivative[1], fy, 1e-14);
}

TEST(dual, second_derivatives_of_nested_duals_are_symmetric_and_converge) {
  using D = Dual<double, 2>;
  using DD = Dual<D, 2>;
  const auto second = [](double x, double y) {
    DD u = DD::constant(D::variable(x, 0)), v = DD::constant(D::variable(y, 1));
    u.derivative[0] = D(1.0);
    v.derivative[1] = D(1.0);
    return expression(u, v);
  };
  const double x = 0.6, y = 1.3;
  const DD f = second(x, y);
  EXPECT_NEAR(f.derivative[0].derivative[1], f.derivative[1].derivative[0], 1e-14);
  // The error of central differences of the first derivative is of second order.
  double previous = 0.0;
  for (double h = 2e-2; h > 1e-3; h *= 0.5) {
    const double difference = (second(x + h, y).derivative[0].value - second(x - h, y).derivative[0].value) / (2.0 * h);
    const double error = std::abs(difference - f.derivative[0].derivative[0]);
    if (previous > 0.0) {
      EXPECT_NEAR(std::log2(previous / error), 2.0, 0.1);
    }
    previous = error;
  }
}

}  // namespace
}  // namespace diffsim::dual_test
