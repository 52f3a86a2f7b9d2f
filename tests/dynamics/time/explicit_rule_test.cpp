// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Coefficient tables of the explicit integrators, tested on an oscillator: orders of convergence, and largest stable
// substeps.

#include "dynamics/time/explicit_rule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace diffsim::explicit_rule_test {
namespace {

using namespace dynamics;

/// Returns the state after one substep of ẍ = -ω² x - 2 ζ ω ẋ + cos t from (x, v) at time t.
std::array<double, 2> substep(const ExplicitRule& rule, double t, double h, double x, double v) {
  constexpr double omega = 1.3, zeta = 0.1;
  double a[max_stages] = {};
  double new_v = v, new_x = x;
  for (std::size_t i = 0; i < rule.stages.size(); ++i) {
    const ExplicitRule::Stage& stage = rule.stages[i];
    double X = x + stage.time * h * v, V = v;
    for (std::size_t j = 0; j < i; ++j) {
      X += h * h * stage.position[j] * a[j];
      V += h * stage.velocity[j] * a[j];
    }
    a[i] = -omega * omega * X - 2.0 * zeta * omega * V + std::cos(t + stage.time * h);
    new_v += h * rule.velocity[i] * a[i];
    new_x += h * h * rule.position[i] * a[i];
  }
  new_x += h * (rule.old_velocity * v + rule.new_velocity * new_v);
  return {new_x, new_v};
}

/// Returns the position after 2 s in the given number of substeps.
double position(const ExplicitRule& rule, int substeps) {
  const double h = 2.0 / substeps;
  std::array<double, 2> state{1.0, 0.5};
  for (int k = 0; k < substeps; ++k) state = substep(rule, k * h, h, state[0], state[1]);
  return state[0];
}

TEST(explicit_rule, has_its_order) {
  for (const ExplicitRule& rule : explicit_rules()) {
    const int first = rule.order == 4 ? 40 : 2000;
    const double coarse = position(rule, first), middle = position(rule, 2 * first), fine = position(rule, 4 * first);
    EXPECT_NEAR(std::log2((coarse - middle) / (middle - fine)), rule.order, 0.05) << name_of(rule.integrator);
  }
}

TEST(explicit_rule, knows_where_oscillations_grow) {
  const auto limit = [](Integrator integrator, double stiffness, double damping) {
    return largest_stable_substep(*find_explicit_rule(integrator), stiffness, damping);
  };
  // Undamped, ω = 3: h ω ≤ 2 for the symplectic rules, h ω ≤ 2 √2 for the classical Runge-Kutta method.
  EXPECT_NEAR(limit(Integrator::symplectic_euler, 9.0, 0.0), 2.0 / 3.0, 1e-6);
  EXPECT_NEAR(limit(Integrator::velocity_verlet, 9.0, 0.0), 2.0 / 3.0, 1e-6);
  EXPECT_NEAR(limit(Integrator::runge_kutta_4, 9.0, 0.0), std::sqrt(8.0) / 3.0, 1e-6);
  EXPECT_EQ(limit(Integrator::explicit_euler, 9.0, 0.0), 0.0);
  EXPECT_EQ(limit(Integrator::runge_kutta_2, 9.0, 0.0), 0.0);
  // Pure damping, γ = 5: h γ ≤ 2, and h γ ≤ 2.7853 for the classical Runge-Kutta method.
  for (const Integrator integrator : {Integrator::explicit_euler, Integrator::symplectic_euler,
                                      Integrator::velocity_verlet, Integrator::runge_kutta_2})
    EXPECT_NEAR(limit(integrator, 0.0, 5.0), 2.0 / 5.0, 1e-6) << name_of(integrator);
  EXPECT_NEAR(limit(Integrator::runge_kutta_4, 0.0, 5.0), 2.785293563 / 5.0, 1e-6);
  // Symplectic Euler: h² κ + 2 h γ ≤ 4.
  EXPECT_NEAR(limit(Integrator::symplectic_euler, 9.0, 5.0), (std::sqrt(25.0 + 36.0) - 5.0) / 9.0, 1e-6);
  EXPECT_EQ(limit(Integrator::velocity_verlet, 0.0, 0.0), std::numeric_limits<double>::infinity());
}

TEST(explicit_rule, tables_agree_with_what_the_step_makes_of_them) {
  for (const Integrator integrator : integrators())
    EXPECT_EQ(find_explicit_rule(integrator) != nullptr, is_explicit(integrator)) << name_of(integrator);
  for (const ExplicitRule& rule : explicit_rules()) {
    EXPECT_EQ(rule.has_damping, has_damping_factor(rule.integrator)) << name_of(rule.integrator);
    EXPECT_LE(rule.stages.size(), max_stages) << name_of(rule.integrator);
    EXPECT_EQ(rule.stages[0].time, 0.0) << name_of(rule.integrator);
    EXPECT_TRUE(!rule.has_damping || rule.stages.size() == 1) << name_of(rule.integrator);
    if (!rule.ends_in_last_stage) continue;
    const ExplicitRule::Stage& last = rule.stages.back();
    EXPECT_EQ(last.time, rule.old_velocity) << name_of(rule.integrator);
    EXPECT_EQ(rule.new_velocity, 0.0) << name_of(rule.integrator);
    for (std::size_t j = 0; j < max_stages; ++j)
      EXPECT_EQ(last.position[j], rule.position[j]) << name_of(rule.integrator);
  }
}

}  // namespace
}  // namespace diffsim::explicit_rule_test
