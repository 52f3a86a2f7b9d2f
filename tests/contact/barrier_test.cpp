// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/barrier.hpp"

#include <gtest/gtest.h>

namespace diffsim::contact {
namespace {

using First = Dual<double, 2>;
using Second = Dual<First, 2>;

TEST(barrier, derivatives_agree_with_automatic_differentiation) {
  for (double y = 1e-6; y < 1.0; y *= 1.7) {
    Dual<First, 1> seed;
    seed.value = First::variable(y, 0);
    seed.derivative[0] = First(1.0);
    const auto b = barrier(seed);
    EXPECT_NEAR(barrier(y), b.value.value, 1e-14 * barrier(y));
    EXPECT_NEAR(barrier_gradient(y), b.derivative[0].value, 1e-13 * std::abs(barrier_gradient(y)));
    EXPECT_NEAR(barrier_hessian(y), b.derivative[0].derivative[0], 1e-12 * barrier_hessian(y));
  }
}

TEST(barrier, by_squared_distance_and_range) {
  const double range = 0.3;
  for (const double distance : {0.001, 0.02, 0.1, 0.25, 0.299}) {
    Second s = Second::constant(First::variable(distance * distance, 0)),
           d = Second::constant(First::variable(range, 1));
    s.derivative[0] = First(1.0);
    d.derivative[1] = First(1.0);
    const Second psi = d * barrier(s / (d * d));
    const Barrier b(distance * distance, range);
    EXPECT_NEAR(b.value, psi.value.value, 1e-13 * psi.value.value);
    EXPECT_NEAR(b.gradient, psi.derivative[0].value, 1e-12 * std::abs(b.gradient));
    EXPECT_NEAR(b.hessian, psi.derivative[0].derivative[0], 1e-11 * b.hessian);
    EXPECT_NEAR(b.distance, psi.derivative[1].value, 1e-12 * b.distance);
    EXPECT_NEAR(b.gradient_distance, psi.derivative[0].derivative[1], 1e-11 * std::abs(b.gradient_distance));
  }
}

TEST(barrier, falls_to_zero_with_two_derivatives_and_grows_without_bound) {
  for (const double y : {1.0, 1.5, 100.0}) {
    const Barrier b(y, 1.0);
    EXPECT_EQ(b.value, 0.0);
    EXPECT_EQ(b.gradient, 0.0);
    EXPECT_EQ(b.hessian, 0.0);
  }
  // b = z³ + O(z⁴) with z = 1 - y: the third derivative is the first that jumps.
  for (const double z : {1e-2, 1e-3, 1e-4}) {
    EXPECT_NEAR(barrier(1.0 - z) / (z * z * z), 1.0, z);
    EXPECT_NEAR(barrier_gradient(1.0 - z) / (-3.0 * z * z), 1.0, z);
    EXPECT_NEAR(barrier_hessian(1.0 - z) / (6.0 * z), 1.0, 3.0 * z);
  }
  EXPECT_GT(barrier(1e-300), 600.0);
  for (double y = 1e-8; y < 1.0; y += 1e-3) {
    EXPECT_LT(barrier_gradient(y), 0.0);
    EXPECT_GT(barrier_hessian(y), 0.0);
  }
}

}  // namespace
}  // namespace diffsim::contact
