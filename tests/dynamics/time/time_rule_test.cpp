// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Coefficient tables of the implicit integrators, tested on an oscillator: orders of convergence, and damping of
// frequencies that the steps do not resolve.

#include "dynamics/time/time_rule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace diffsim::time_rule_test {
namespace {

using namespace dynamics;

double value_of(const Combination& combination, double y, const std::vector<double>& state) {
  double sum = combination.y * y;
  for (std::size_t k = 0; k < state.size(); ++k) sum += combination.state[k] * state[k];
  return sum;
}

/// Returns the state after one step of ẍ + 2 ζ ω ẋ + ω² x = 0.
std::vector<double> step(const TimeRule& rule, double omega, double zeta, const std::vector<double>& state) {
  const auto residual = [&](double y) {
    return value_of(rule.acceleration, y, state) + 2.0 * zeta * omega * value_of(rule.velocity, y, state) +
           omega * omega * y;
  };
  const double y = -residual(0.0) / (residual(1.0) - residual(0.0));
  std::vector<double> next;
  for (const Combination& field : rule.next) next.push_back(value_of(field, y, state));
  return next;
}

/// Error of the position after 10 s for x(0) = 1, v(0) = 0.5.
double error_of(Integrator integrator, int steps) {
  constexpr double omega = 1.3, zeta = 0.02, seconds = 10.0;
  const double h = seconds / steps;
  std::vector<double> state(state_fields(integrator).size(), 0.0);
  state[0] = 1.0;
  state[1] = 0.5;
  for (int n = 0; n < steps; ++n) state = step(make_time_rule(integrator, {}, h, n), omega, zeta, state);
  const double decay = zeta * omega, damped = omega * std::sqrt(1.0 - zeta * zeta);
  const double exact =
      std::exp(-decay * seconds) * (std::cos(damped * seconds) + (0.5 + decay) / damped * std::sin(damped * seconds));
  return std::abs(state[0] - exact);
}

TEST(time_rule, has_its_order_where_the_error_is_small) {
  const std::pair<Integrator, double> orders[] = {{Integrator::implicit_euler, 1.0},
                                                  {Integrator::bdf2, 2.0},
                                                  {Integrator::newmark, 2.0},
                                                  {Integrator::generalised_alpha, 2.0}};
  for (const auto& [integrator, order] : orders)
    EXPECT_NEAR(std::log2(error_of(integrator, 10000) / error_of(integrator, 20000)), order, 0.02)
        << name_of(integrator);
}

/// Traces of A, A² and A³, where A is the matrix of one step for ω h → ∞: the sums of the eigenvalues' powers.
std::array<double, 3> traces_at_infinity(Integrator integrator, const ImplicitOptions& options) {
  const TimeRule rule = make_time_rule(integrator, options, 1.0, 1);
  const std::size_t count = rule.fields.size();
  std::array<double, 3> traces{};
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double> state(count, 0.0);
    state[k] = 1.0;
    for (double& trace : traces) {
      state = step(rule, 1e6, 0.0, state);
      trace += state[k];
    }
  }
  return traces;
}

// Three eigenvalues are -ρ at infinite frequency (Chung & Hulbert 1993). The fourth is zero, because the accelerations
// after a step follow from the positions.
TEST(time_rule, generalised_alpha_damps_as_asked_at_infinite_frequency) {
  for (const double rho : {0.0, 0.3, 0.8, 1.0}) {
    ImplicitOptions options;
    options.spectral_radius = rho;
    const std::array<double, 3> traces = traces_at_infinity(Integrator::generalised_alpha, options);
    EXPECT_NEAR(traces[0], -3.0 * rho, 1e-9) << rho;
    EXPECT_NEAR(traces[1], 3.0 * rho * rho, 1e-9) << rho;
    EXPECT_NEAR(traces[2], -3.0 * rho * rho * rho, 1e-9) << rho;
  }
}

// Newmark 1959 with β = 1/4 and γ = 1/2, the trapezoidal rule: two eigenvalues are -1, and the previous acceleration
// has no effect.
TEST(time_rule, newmark_keeps_the_energy_at_infinite_frequency) {
  const std::array<double, 3> traces = traces_at_infinity(Integrator::newmark, {});
  EXPECT_NEAR(traces[0], -2.0, 1e-9);
  EXPECT_NEAR(traces[1], 2.0, 1e-9);
  EXPECT_NEAR(traces[2], -2.0, 1e-9);
}

}  // namespace
}  // namespace diffsim::time_rule_test
