// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/barrier.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace diffsim::contact::barrier_test {
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
  for (const double thickness : {0.0, 0.01, 0.2, 3.0})
    for (const double gap : {0.001, 0.02, 0.1, 0.25, 0.299}) {
      const double distance = thickness + gap;
      Second s = Second::constant(First::variable(distance * distance, 0)),
             d = Second::constant(First::variable(range, 1));
      s.derivative[0] = First(1.0);
      d.derivative[1] = First(1.0);
      const Second xi = Second(thickness), whole = xi + d;
      const Second psi = d * barrier((s - xi * xi) / (whole * whole - xi * xi));
      const Barrier b(distance * distance, range, thickness);
      // Loss of relative accuracy of s due to the thickness, which is up to 3000 times the gap.
      const double lost = 1.0 + thickness / gap;
      EXPECT_NEAR(b.value, psi.value.value, 1e-13 * lost * psi.value.value);
      EXPECT_NEAR(b.gradient, psi.derivative[0].value, 1e-12 * lost * std::abs(b.gradient));
      EXPECT_NEAR(b.hessian, psi.derivative[0].derivative[0], 1e-11 * lost * b.hessian);
      EXPECT_NEAR(b.distance, psi.derivative[1].value, 1e-12 * lost * b.distance);
      EXPECT_NEAR(b.gradient_distance, psi.derivative[0].derivative[1], 1e-11 * lost * std::abs(b.gradient_distance));
    }
}

TEST(barrier, of_a_thickness_pushes_from_there_to_the_range_beyond) {
  const double range = 0.3, thickness = 0.2;
  const auto at = [&](double distance) { return Barrier(distance * distance, range, thickness); };
  EXPECT_EQ(at(0.5000001).value, 0.0);
  EXPECT_GT(at(0.4999).value, 0.0);
  EXPECT_GT(at(thickness + 1e-14).value, 25.0 * range);
  // For thickness ≫ d̂, the barrier is that of the gap: ψ = d̂ b(g/d̂).
  EXPECT_NEAR(Barrier(std::pow(1e6 + 0.1, 2), range, 1e6).value, range * barrier(0.1 / range), 1e-4 * range);
}

TEST(barrier, falls_to_zero_with_two_derivatives_and_grows_without_bound) {
  for (const double y : {1.0, 1.5, 100.0}) {
    const Barrier b(y, 1.0);
    EXPECT_EQ(b.value, 0.0);
    EXPECT_EQ(b.gradient, 0.0);
    EXPECT_EQ(b.hessian, 0.0);
  }
  // b = z³ + O(z⁴) with z = 1 - y, so the first derivative that jumps is the third.
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
}  // namespace diffsim::contact::barrier_test
