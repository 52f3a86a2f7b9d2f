// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Forces of a single spring and a single damper.

#include "spring/spring_force.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/work_derivatives.hpp"

namespace diffsim::spring_force_test {
namespace {

using SpringValues = StencilValues<double, 2, 5>;

SpringValues spring(std::array<double, 3> d, std::array<double, 5> p) {
  SpringValues at{};
  for (int c = 0; c < 3; ++c) {
    at.x[0][c] = 0.1 * (c + 1);
    at.x[1][c] = at.x[0][c] + d[static_cast<std::size_t>(c)];
  }
  for (int k = 0; k < 5; ++k) at.p[k] = p[static_cast<std::size_t>(k)];
  return at;
}

/// Returns the component of the force on x₁ along -d, d = x₁ - x₀, that is, the tension of the spring.
double tension(const SpringValues& at) {
  Vec3<double> f[2];
  SpringForce().forces(at, f);
  const Vec3<double> d = at.x[1] - at.x[0];
  return -dot(f[1], d) / std::sqrt(dot(d, d));
}

TEST(SpringForce, is_a_polynomial_of_the_elongation) {
  // |d| = 0.3, L₀ = 0.2.
  const SpringValues at = spring({0.1, 0.2, -0.2}, {40.0, 150.0, 700.0, 0.2, 0.0});
  EXPECT_NEAR(tension(at), 40.0 * 0.1 + 150.0 * 0.01 + 700.0 * 0.001, 1e-13);
}

TEST(SpringForce, shrinks_with_softening_by_the_ratio_of_lengths) {
  const SpringValues at = spring({0.1, 0.2, -0.2}, {40.0, 0.0, 0.0, 0.2, 0.05});
  EXPECT_NEAR(tension(at), 40.0 * 0.15 * 0.3 / 0.35, 1e-13);
}

TEST(SpringForce, is_minus_the_derivative_of_the_energy) {
  for (const double softening : {0.0, 0.04})
    for (const double rest : {0.0, 0.2}) {
      const std::array<double, 3> d{0.1, 0.2, -0.2};
      const std::array<double, 5> p{40.0, 150.0, 700.0, rest, softening};
      Vec3<double> f[2];
      SpringForce().forces(spring(d, p), f);
      for (std::size_t c = 0; c < 3; ++c) {
        // Central differences of sixth order.
        constexpr double h = 1e-3, weights[3] = {45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};
        double slope = 0.0;
        for (int k = 1; k <= 3; ++k) {
          std::array<double, 3> more = d, less = d;
          more[c] += k * h;
          less[c] -= k * h;
          slope += weights[k - 1] / h * (SpringForce().energy(spring(more, p)) - SpringForce().energy(spring(less, p)));
        }
        EXPECT_NEAR(f[1][static_cast<int>(c)], -slope, 1e-10) << "softening " << softening << ", rest " << rest;
        EXPECT_EQ(f[0][static_cast<int>(c)], -f[1][static_cast<int>(c)]);
      }
    }
}

TEST(SpringForce, has_no_energy_at_its_rest_length) {
  EXPECT_NEAR(SpringForce().energy(spring({0.12, 0.0, 0.16}, {40.0, 150.0, 700.0, 0.25, 0.05})), 0.0, 1e-15);
}

TEST(SpringForce, is_smooth_where_softened_ends_meet) {
  const SpringValues at = spring({0.0, 0.0, 0.0}, {40.0, 0.0, 0.0, 0.2, 0.05});
  double J[6][6];
  stencil::jacobian_of(SpringForce(), at, 1.0, 0.0, J);
  // f₀ = k (ε - L₀)/ε d, to first order in d.
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(J[r][3 + c], r == c ? 40.0 * (0.05 - 0.2) / 0.05 : 0.0, 1e-12);
}

TEST(DamperForce, opposes_the_rate_of_the_length_alone) {
  StencilValues<double, 2, 2> at{};
  at.x[1] = {{0.3, 0.0, 0.0}};
  at.v[1] = {{2.0, 5.0, -1.0}};
  at.p[0] = 0.5;
  Vec3<double> f[2];
  DamperForce().forces(at, f);
  EXPECT_NEAR(f[1][0], -1.0, 1e-15);
  EXPECT_EQ(f[1][1], 0.0);
  EXPECT_EQ(f[1][2], 0.0);
  EXPECT_NEAR(f[0][0], 1.0, 1e-15);
}

const Vec3<double> work_along[2] = {{{0.3, -1.1, 0.7}}, {{-0.4, 0.2, 0.9}}};

TEST(SpringForce, has_the_derivatives_of_its_work) {
  for (const double softening : {0.0, 0.04})
    EXPECT_LE(error_of_work_derivatives(SpringForce(), spring({0.1, 0.2, -0.2}, {40.0, 150.0, 700.0, 0.25, softening}),
                                        work_along),
              1e-14)
        << "softening " << softening;
  EXPECT_LE(
      error_of_work_derivatives(SpringForce(), spring({0.0, 0.0, 0.0}, {40.0, 150.0, 700.0, 0.25, 0.04}), work_along),
      1e-14)
      << "where the ends meet";
}

TEST(DamperForce, has_the_derivatives_of_its_work) {
  for (const double softening : {0.0, 0.04}) {
    StencilValues<double, 2, 2> at{};
    at.x[0] = {{0.1, 0.2, 0.3}};
    at.x[1] = {{0.2, 0.4, 0.1}};
    at.v[0] = {{-1.0, 0.5, 0.2}};
    at.v[1] = {{2.0, 5.0, -1.0}};
    at.p[0] = 0.5;
    at.p[1] = softening;
    EXPECT_LE(error_of_work_derivatives(DamperForce(), at, work_along), 1e-14) << "softening " << softening;
  }
}

}  // namespace
}  // namespace diffsim::spring_force_test
