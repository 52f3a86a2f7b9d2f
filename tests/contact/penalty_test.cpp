// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/penalty.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "contact/plane_force.hpp"
#include "pair_testing.hpp"

namespace diffsim::contact::penalty_test {
namespace {

using namespace testing_pairs;

TEST(penalty, derivatives_agree_with_automatic_differentiation) {
  using First = Dual<double, 1>;
  const double range = 0.3;
  for (const double thickness : {0.0, 0.2, 3.0})
    for (const double gap : {-0.15, 0.001, 0.1, 0.299}) {
      const double distance = thickness + gap;
      if (distance <= 0.0) continue;
      const auto s = Dual<First, 1>::variable(First::variable(distance * distance, 0), 0);
      const Dual<First, 1> r = 1.0 - (sqrt(s) - thickness) / range;
      const Dual<First, 1> psi = range / 3.0 * r * r * r;
      const Penalty penalty(distance * distance, range, thickness);
      EXPECT_NEAR(penalty.value, psi.value.value, 1e-13 * psi.value.value + 1e-20);
      EXPECT_NEAR(penalty.gradient, psi.derivative[0].value, 1e-12 * std::abs(penalty.gradient));
      EXPECT_NEAR(penalty.hessian, psi.derivative[0].derivative[0], 1e-11 * penalty.hessian);
    }
}

TEST(penalty, pressure_is_one_at_the_thickness_and_zero_beyond_the_range) {
  const double range = 0.3, thickness = 0.2;
  const auto pressure = [&](double d) { return -2.0 * d * Penalty(d * d, range, thickness).gradient; };
  EXPECT_NEAR(pressure(thickness), 1.0, 1e-14);
  EXPECT_NEAR(pressure(thickness + 0.5 * range), 0.25, 1e-14);
  EXPECT_NEAR(pressure(thickness - 0.15), 2.25, 1e-14);
  for (const double beyond : {thickness + range, 1.0}) {
    const Penalty penalty(beyond * beyond, range, thickness);
    EXPECT_EQ(penalty.value, 0.0);
    EXPECT_EQ(penalty.hessian, 0.0);
  }
}

TEST(damping_factor, is_the_smooth_slope_of_a_convex_potential) {
  const double h = 1e-3;
  for (double w = -2.0; w < 3.0; w += 0.05) {
    // Differences of fourth order; P has jumps of its third derivative at 0 and 1.
    const double slope = (8.0 * (damping_potential(w + h) - damping_potential(w - h)) - damping_potential(w + 2.0 * h) +
                          damping_potential(w - 2.0 * h)) /
                         (12.0 * h);
    EXPECT_NEAR(damping_factor(w), slope, h * h);
    const double curvature = damping_factor(Dual<double, 1>::variable(w, 0)).derivative[0];
    EXPECT_GE(curvature, 0.0);
    EXPECT_NEAR(curvature, (damping_factor(w + h) - damping_factor(w - h)) / (2.0 * h), 3.0 * h);
    EXPECT_LE(damping_factor(w), 1.0);
  }
  EXPECT_EQ(damping_factor(-2.0), -2.0);
  EXPECT_EQ(damping_factor(1.5), 1.0);
}

TEST(penalty, damping_of_pairs_dissipates_and_never_attracts) {
  QuadSource source(51);
  int damped = 0;
  for (int n = 0; n < 300; ++n) {
    const Quad x = source.generic(), v = source.generic();
    if (edge_edge_distance(x.data()).squared < 1e-4) continue;
    ContactLaw<double> law = penalty_law;
    law.friction = 0.0;
    Quad with{}, without{};
    add_pair_force(edge_edge, x.data(), v.data(), law, with.data());
    add_pair_force(edge_edge, x.data(), static_cast<const Vec3<double>*>(nullptr), law, without.data());
    double power = 0.0, pushed = 0.0;
    for (std::size_t k = 0; k < 4; ++k) power += dot(with[k] - without[k], v[k]);
    for (std::size_t k = 0; k < 2; ++k) pushed += dot(with[k], without[0] + without[1]);
    EXPECT_LE(power, 1e-9);
    if (squared_cross(x.data()) < edge_edge.threshold) continue;
    EXPECT_GE(pushed, -1e-9);
    damped += power < 0.0;
    // The potential of the damping, by differences along the velocities.
    const double h = 1e-5;
    Quad faster = v, slower = v;
    for (std::size_t k = 0; k < 4; ++k) {
      faster[k] = v[k] + detail::scaled(h, v[k]);
      slower[k] = v[k] - detail::scaled(h, v[k]);
    }
    const double slope = (pair_dissipation(edge_edge, x.data(), faster.data(), law) -
                          pair_dissipation(edge_edge, x.data(), slower.data(), law)) /
                         (2.0 * h);
    EXPECT_NEAR(slope, -power, 1e-4 * std::abs(power) + 1e-6);
  }
  EXPECT_GT(damped, 50);
}

TEST(penalty, of_a_plane_acts_inside_the_plane_with_damping) {
  using Force = PlaneForce<false>;
  Force force;
  force.normal = {{0.0, 1.0, 0.0}};
  force.turn = {};
  force.uses_velocities = true;
  force.is_penalty = true;
  point::Values<Force> at{};
  at.weight = 0.5;
  at.p[Force::stiffness] = 3e4;
  at.p[Force::range] = 0.1;
  at.p[Force::epsilon] = 1.0;
  at.p[Force::damping] = 0.2;
  const auto up = [&](double y, double speed) {
    at.x = {{0.0, y, 0.0}};
    at.v = {{0.0, speed, 0.0}};
    return force.force(at)[1];
  };
  const double inside = 0.5 * 3e4 * 1.5 * 1.5;
  EXPECT_NEAR(up(-0.05, 0.0), inside, 1e-9);
  EXPECT_NEAR(up(-0.05, -2.0), 1.4 * inside, 1e-9);
  EXPECT_EQ(up(-0.05, 5.0), 0.0);
  EXPECT_TRUE(force.active(at));
  at.x[1] = 0.1;
  EXPECT_FALSE(force.active(at));
}

}  // namespace
}  // namespace diffsim::contact::penalty_test
