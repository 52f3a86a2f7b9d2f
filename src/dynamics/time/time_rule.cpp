// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/time_rule.hpp"

namespace diffsim::dynamics {
namespace {

Combination operator+(Combination a, const Combination& b) {
  a.y += b.y;
  for (std::size_t k = 0; k < a.state.size(); ++k) a.state[k] += b.state[k];
  return a;
}

Combination operator*(double factor, Combination a) {
  a.y *= factor;
  for (double& c : a.state) c *= factor;
  return a;
}

Combination operator-(const Combination& a, const Combination& b) { return a + -1.0 * b; }

/// Elementary combinations: zero, y, and each field of the state.
struct Symbols {
  explicit Symbols(std::size_t fields) : count(fields) {}
  Combination zero() const { return {0.0, std::vector<double>(count, 0.0)}; }
  Combination y() const {
    Combination c = zero();
    c.y = 1.0;
    return c;
  }
  Combination field(std::size_t k) const {
    Combination c = zero();
    c.state[k] = 1.0;
    return c;
  }
  std::size_t count;
};

}  // namespace

TimeRule make_time_rule(Integrator integrator, const ImplicitOptions& options, double h, int n) {
  TimeRule rule;
  rule.fields = state_fields(integrator);
  const Symbols symbols(rule.fields.size());
  const Combination y = symbols.y(), x = symbols.field(0), v = symbols.field(1);
  if (rule.fields.size() == 2 || (integrator == Integrator::bdf2 && n == 0)) {
    rule.velocity = (1.0 / h) * (y - x);
    rule.acceleration = integrator == Integrator::quasi_static ? symbols.zero() : (1.0 / h) * (rule.velocity - v);
    rule.next = {y, rule.velocity};
    if (integrator == Integrator::bdf2) rule.next.insert(rule.next.end(), {x, v});
    return rule;
  }
  if (integrator == Integrator::bdf2) {
    const Combination previous_x = symbols.field(2), previous_v = symbols.field(3);
    rule.velocity = (0.5 / h) * (3.0 * y - 4.0 * x + previous_x);
    rule.acceleration = (0.5 / h) * (3.0 * rule.velocity - 4.0 * v + previous_v);
    rule.next = {y, rule.velocity, x, v};
    return rule;
  }
  const bool is_newmark = integrator == Integrator::newmark;
  double beta = options.beta, gamma = options.gamma, alpha_m = 0.0, alpha_f = 0.0;
  if (!is_newmark) {
    const double rho = options.spectral_radius;
    alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
    alpha_f = rho / (rho + 1.0);
    gamma = 0.5 - alpha_m + alpha_f;
    beta = 0.25 * (1.0 - alpha_m + alpha_f) * (1.0 - alpha_m + alpha_f);
  }
  if (n == 0) {
    beta = 0.5;
    gamma = 1.0;
    alpha_m = alpha_f = 0.0;
  }
  // b: accelerations in Newmark's formulas, the auxiliary accelerations of generalised-α.
  const Combination b = symbols.field(is_newmark ? 2 : 3);
  const Combination next_b = (1.0 / (beta * h * h)) * (y - x - h * v - (h * h * (0.5 - beta)) * b);
  rule.velocity = v + h * ((1.0 - gamma) * b + gamma * next_b);
  rule.next = {y, rule.velocity, next_b};
  if (is_newmark) {
    rule.acceleration = next_b;
    return rule;
  }
  const Combination a = symbols.field(2);
  rule.acceleration = (1.0 / (1.0 - alpha_f)) * ((1.0 - alpha_m) * next_b + alpha_m * b - alpha_f * a);
  rule.next.insert(rule.next.begin() + 2, rule.acceleration);
  return rule;
}

}  // namespace diffsim::dynamics
