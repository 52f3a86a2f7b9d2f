// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/explicit_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace diffsim::dynamics {
namespace {

/// Returns (x', v') after one substep of ẍ = -κ x - γ ẋ from (x, v).
std::array<double, 2> oscillate(const ExplicitRule& rule, double h, double kappa, double gamma, double x, double v) {
  ExplicitRule::Row a{};
  const auto sum = [&](const ExplicitRule::Row& weights, std::size_t count) {
    double result = 0.0;
    for (std::size_t j = 0; j < count; ++j) result += weights[j] * a[j];
    return result;
  };
  const std::size_t count = rule.stages.size();
  for (std::size_t i = 0; i < count; ++i) {
    const ExplicitRule::Stage& stage = rule.stages[i];
    a[i] =
        -kappa * (x + stage.time * h * v + h * h * sum(stage.position, i)) - gamma * (v + h * sum(stage.velocity, i));
  }
  const double new_v = v + h * sum(rule.velocity, count);
  return {x + h * (rule.old_velocity * v + rule.new_velocity * new_v) + h * h * sum(rule.position, count), new_v};
}

/// Returns true if no solution of ẍ = -κ x - γ ẋ grows, which means that the spectral radius of a substep's
/// amplification matrix is at most 1, up to rounding.
bool is_stable(const ExplicitRule& rule, double h, double kappa, double gamma) {
  // Positions are divided by h, so that positions and velocities have the same unit and the entries of the matrix are
  // dimensionless.
  const std::array<double, 2> by_x = oscillate(rule, h, kappa, gamma, h, 0.0),
                              by_v = oscillate(rule, h, kappa, gamma, 0.0, 1.0);
  const double trace = by_x[0] / h + by_v[1], determinant = (by_x[0] * by_v[1] - by_x[1] * by_v[0]) / h;
  const double discriminant = 0.25 * trace * trace - determinant;
  const double radius =
      discriminant > 0.0 ? 0.5 * std::abs(trace) + std::sqrt(discriminant) : std::sqrt(std::max(determinant, 0.0));
  return radius <= 1.0 + 1e-10;
}

bool all_are_stable(const ExplicitRule& rule, double h, double stiffness, double damping) {
  constexpr int parts = 8;
  for (int i = 0; i <= (stiffness > 0.0 ? parts : 0); ++i)
    for (int j = 0; j <= (damping > 0.0 ? parts : 0); ++j)
      if ((i > 0 || j > 0) && !is_stable(rule, h, stiffness * i / parts, damping * j / parts)) return false;
  return true;
}

}  // namespace

const std::vector<ExplicitRule>& explicit_rules() {
  static const std::vector<ExplicitRule> rules{
      {.integrator = Integrator::explicit_euler,
       .order = 1,
       .stages = {{}},
       .velocity = {1.0},
       .old_velocity = 1.0,
       .has_damping = true},
      {.integrator = Integrator::symplectic_euler,
       .order = 1,
       .stages = {{}},
       .velocity = {1.0},
       .new_velocity = 1.0,
       .has_damping = true},
      {.integrator = Integrator::velocity_verlet,
       .order = 2,
       .stages = {{}, {.time = 1.0, .velocity = {1.0}, .position = {0.5}}},
       .velocity = {0.5, 0.5},
       .position = {0.5},
       .old_velocity = 1.0,
       .ends_in_last_stage = true},
      {.integrator = Integrator::runge_kutta_2,
       .order = 2,
       .stages = {{}, {.time = 0.5, .velocity = {0.5}}},
       .velocity = {0.0, 1.0},
       .position = {0.5},
       .old_velocity = 1.0},
      {.integrator = Integrator::runge_kutta_4,
       .order = 4,
       .stages = {{},
                  {.time = 0.5, .velocity = {0.5}},
                  {.time = 0.5, .velocity = {0.0, 0.5}, .position = {0.25}},
                  {.time = 1.0, .velocity = {0.0, 0.0, 1.0}, .position = {0.0, 0.5}}},
       .velocity = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0},
       .position = {1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0},
       .old_velocity = 1.0}};
  return rules;
}

const ExplicitRule* find_explicit_rule(Integrator integrator) {
  const auto& rules = explicit_rules();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return rule.integrator == integrator; });
  return found == rules.end() ? nullptr : &*found;
}

double largest_stable_substep(const ExplicitRule& rule, double stiffness, double damping) {
  if (stiffness <= 0.0 && damping <= 0.0) return std::numeric_limits<double>::infinity();
  // No rule in the table is stable for h √κ > 4 or h γ > 4.
  const double most = 4.0 / std::max(std::sqrt(stiffness), damping);
  constexpr int parts = 400;
  int stable_parts = 0;
  while (stable_parts < parts && all_are_stable(rule, most * (stable_parts + 1) / parts, stiffness, damping))
    ++stable_parts;
  if (stable_parts == 0) return 0.0;
  double low = most * stable_parts / parts, high = most * (stable_parts + 1) / parts;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (all_are_stable(rule, middle, stiffness, damping) ? low : high) = middle;
  }
  return low;
}

}  // namespace diffsim::dynamics
