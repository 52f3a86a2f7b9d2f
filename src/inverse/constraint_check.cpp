// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/constraint_check.hpp"

#include <algorithm>
#include <cmath>

#include "diffsim/core/runtime.hpp"
#include "inverse/check_tools.hpp"

namespace diffsim::inverse {
namespace {

/// Returns the verdict on the slope. `rounding`: rounding error of the slope from the gradient. `rate`: largest ratio
/// of a change of the function to the step of the change, with which the error of a slope close to zero is compared.
CheckVerdict verdict_of(const ConstraintCheck& check, double rounding, double rate,
                        const GradientCheckOptions& options) {
  if (!std::isfinite(check.slope)) return CheckVerdict::failed;
  if (!std::isfinite(check.difference_error)) return CheckVerdict::unresolved;
  const double size = std::max(std::abs(check.slope), std::abs(check.difference));
  const double allowed = std::max(options.slope_tolerance * size, safety * check.difference_error) + rounding;
  if (std::abs(check.slope - check.difference) > allowed) return CheckVerdict::failed;
  if (rate == 0.0) return CheckVerdict::independent;
  const bool is_resolved = allowed <= options.resolution * std::max(size, options.resolution * rate);
  return is_resolved ? CheckVerdict::passed : CheckVerdict::unresolved;
}

}  // namespace

ConstraintCheck check_constraint(ConstraintFunction& function, const InverseProblem& problem,
                                 const std::vector<double>& u, const GradientCheckOptions& options) {
  std::vector<double> direction(u.size(), 0.0);
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const std::vector<double> part = random_direction(problem, k, u, options.seed + static_cast<unsigned>(k));
    for (std::size_t i = 0; i < direction.size(); ++i) direction[i] += part[i];
  }
  ConstraintCheck check;
  check.name = function.name();
  std::vector<double> gradient;
  const double value = function.gradient(u, gradient);
  check.slope = inner_product(gradient, direction, problem.comm());
  const Line line = along(u, direction, [&](const std::vector<double>& at) {
    std::vector<double> unused;
    return function.gradient(at, unused);
  });
  check.noise = measure_noise(line, value);
  const Slope slope = measure_slope(line, check.noise, check.slope);
  check.difference = slope.value;
  check.difference_error = slope.error;
  double entries = 0.0, rate = 0.0;
  for (std::size_t i = 0; i < gradient.size(); ++i) entries += std::abs(gradient[i] * direction[i]);
  for (const LinePair& pair : slope.pairs)
    for (const double moved : {pair.plus, pair.minus}) rate = std::max(rate, std::abs(moved - value) / pair.h);
  const double rounding = options.dot_product_tolerance * sum_over_ranks(entries, problem.comm());
  check.verdict = verdict_of(check, rounding, rate, options);
  check.passed = check.verdict == CheckVerdict::passed || check.verdict == CheckVerdict::independent;
  return check;
}

}  // namespace diffsim::inverse
