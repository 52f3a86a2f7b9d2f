// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Energies of one segment and one joint of a rope. The hand-written derivatives are compared with Dual numbers.

#include <gtest/gtest.h>

#include <cmath>

#include "core/energy_derivatives.hpp"
#include "rod/rope_energies.hpp"

namespace diffsim::energies_test {
namespace {

template <class F>
stencil::Values<F> moved() {
  stencil::Values<F> at{};
  constexpr double X[3][3] = {{0.1, 0.2, 0.05}, {1.1, 0.1, 0.3}, {1.6, 0.9, -0.2}};
  for (int k = 0; k < 3 * F::num_nodes; ++k) {
    at.X[k / 3][k % 3] = X[k / 3][k % 3];
    at.x[k / 3][k % 3] = X[k / 3][k % 3] + 0.2 * std::sin(3.7 * k + 0.4);
  }
  at.p[0] = 7.0;
  return at;
}

TEST(RopeStretch, has_its_derivatives) {
  EXPECT_LE(testing_core::error_of_derivatives(RopeStretch(), moved<RopeStretch>()), 1e-14);
}
TEST(RopeBending, has_its_derivatives) {
  EXPECT_LE(testing_core::error_of_derivatives(RopeBending(), moved<RopeBending>()), 1e-14);
}

TEST(RopeStretch, of_a_strain_is_half_the_stiffness_times_its_square_and_the_length) {
  stencil::Values<RopeStretch> at{};
  at.X[1] = {{0.0, 2.0, 0.0}};
  at.x[1] = {{0.0, 0.0, 2.2}};
  at.p[0] = 30.0;
  EXPECT_NEAR(RopeStretch().energy(at), 0.5 * 30.0 * 0.1 * 0.1 * 2.0, 1e-14);
}

TEST(RopeBending, of_a_polygon_that_a_circle_touches_is_that_of_the_circle) {
  // The sides of a regular polygon touch a circle of radius r at their midpoints and have length 2 r tan(φ/2). The rest
  // lengths equal this length, so the curvature is 1/r. The joint's energy has two equal contributions of EI/(4 r²)
  // times the length of a side.
  constexpr double radius = 0.7, angle = 0.3;
  const double side = 2.0 * radius * std::tan(0.5 * angle);
  stencil::Values<RopeBending> at{};
  for (int i = 0; i < 3; ++i) at.X[i] = {{side * i, 0.0, 0.0}};
  at.x[0] = {{-side, 0.0, 0.0}};
  at.x[2] = {{side * std::cos(angle), 0.0, side * std::sin(angle)}};
  at.p[0] = 5.0;
  EXPECT_NEAR(2.0 * RopeBending().energy(at), 0.5 * 5.0 / (radius * radius) * side, 1e-14);
}

TEST(RopeBending, keeps_its_digits_where_the_line_is_nearly_straight) {
  // E = EI φ²/(2 l), up to terms of order φ⁴.
  constexpr double angle = 1e-7;
  stencil::Values<RopeBending> at{};
  for (int i = 0; i < 3; ++i) at.X[i] = {{0.1 * i, 0.0, 0.0}};
  at.x[0] = {{-0.1, 0.0, 0.0}};
  at.x[2] = {{0.1, 0.1 * angle, 0.0}};
  at.p[0] = 1.0;
  EXPECT_NEAR(2.0 * RopeBending().energy(at) / (0.5 * angle * angle / 0.1), 1.0, 1e-12);
}

}  // namespace
}  // namespace diffsim::energies_test
