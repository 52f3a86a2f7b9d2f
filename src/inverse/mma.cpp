// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/constraint_rows.hpp"
#include "inverse/minimise.hpp"
#include "inverse/moving_asymptotes.hpp"

namespace diffsim::inverse {
namespace {

void check(const InverseProblem& problem, const ConstraintRows& rows, const OptimiserOptions& options) {
  if (!rows.equations().empty())
    throw Error("the method mma has no equations; use the method almm, or give a lower and an upper bound",
                ErrorKind::input);
  if (!(options.move_limit > 0.0) || options.move_limit > 1.0)
    throw Error("the move limit of mma is " + std::to_string(options.move_limit) + "; give a number in (0, 1]",
                ErrorKind::input);
  const std::vector<double> low = problem.lower_bounds(), high = problem.upper_bounds();
  collectively(problem.comm(), [&] {
    for (std::size_t k = 0; k < problem.unknowns().size(); ++k)
      for (std::size_t i = problem.offset(k); i < problem.offset(k) + problem.count(k); ++i)
        if (!std::isfinite(low[i]) || !std::isfinite(high[i]))
          throw Error("the method mma needs finite bounds, but '" + problem.unknowns()[k].name() +
                          "' has none; give a lower and an upper bound, above 0 for a logarithmic unknown",
                      ErrorKind::input);
  });
}

std::vector<double> within_bounds(std::vector<double> u, const InverseProblem& problem) {
  const std::vector<double> low = problem.lower_bounds(), high = problem.upper_bounds();
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = std::clamp(u[i], low[i], high[i]);
  return u;
}

/// Norm of the gradient g without the components that point beyond an active bound. Collective.
double free_norm(const InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& g) {
  const std::vector<double> low = problem.lower_bounds(), high = problem.upper_bounds();
  std::vector<double> rest = g;
  for (std::size_t i = 0; i < u.size(); ++i)
    if ((u[i] <= low[i] && g[i] > 0.0) || (u[i] >= high[i] && g[i] < 0.0)) rest[i] = 0.0;
  return norm_of(rest, problem.comm());
}

/// Loss, constraints and their gradients at a point.
struct Iteration {
  InverseProblem& problem;
  ConstraintRows rows;
  Linearisation at = {};
  double loss = 0.0;
  long evaluations = 0;

  void move_to(const std::vector<double>& u) {
    ++evaluations;
    std::vector<double> gradient;
    loss = problem.gradient(u, gradient);
    rows.move_to(u);
    // From now on, a gradient that is not finite counts as a failed rollout.
    problem.locate_values_not_finite(false);
    at = {u, {loss}, {std::move(gradient)}};
    for (const ConstraintRows::Row& row : rows.inequalities()) {
      at.values.push_back(rows.value(row));
      at.gradients.push_back(rows.gradient(row));
    }
  }
  /// Gradient of the Lagrangian function.
  std::vector<double> lagrangian_gradient(const std::vector<double>& multipliers) const {
    std::vector<double> sum = at.gradients.front();
    for (std::size_t i = 0; i < multipliers.size(); ++i) rows.add_gradient(rows.inequalities()[i], multipliers[i], sum);
    return sum;
  }
  /// Largest relative distance of an inequality with a multiplier that is not negligible to its bound.
  double slack(const std::vector<double>& multipliers, double gradient_norm) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < multipliers.size(); ++i) {
      const ConstraintRows::Row& row = rows.inequalities()[i];
      std::vector<double> term(at.x.size(), 0.0);
      rows.add_gradient(row, multipliers[i], term);
      if (norm_of(term, problem.comm()) > gradient_norm)
        largest = std::max(largest, std::abs(rows.value(row)) / rows.scale(row));
    }
    return largest;
  }
};

}  // namespace

OptimiserResult minimise_by_mma(InverseProblem& problem, const OptimiserOptions& options,
                                const IterateObserver& observer) {
  Iteration now{problem, ConstraintRows(options.constraints, problem.comm())};
  check(problem, now.rows, options);
  MovingAsymptotes method(problem.comm(), problem.lower_bounds(), problem.upper_bounds(), options.move_limit);
  OptimiserResult result;
  std::vector<double> multipliers(now.rows.inequalities().size(), 0.0);
  now.move_to(within_bounds(start_of(problem, options), problem));
  // The gradient at the start is not projected, because all unknowns may begin at bounds.
  const double first_norm = norm_of(now.at.gradients.front(), problem.comm());
  double norm = first_norm, violation = 0.0;
  int iteration = 0;
  for (;; ++iteration) {
    if (iteration > 0) norm = free_norm(problem, now.at.x, now.lagrangian_gradient(multipliers));
    violation = now.rows.violation();
    if (observer) observer({iteration, now.loss, norm, violation, now.evaluations, &now.at.x});
    const double allowed = options.gradient_tolerance * first_norm;
    result.converged = (iteration > 0 || first_norm == 0.0) && norm <= allowed &&
                       violation <= options.constraint_tolerance &&
                       now.slack(multipliers, allowed) <= options.constraint_tolerance;
    if (result.converged || iteration == options.max_iterations) break;
    method.begin(now.at);
    constexpr int max_trials = 30;
    for (int trial = 1;; ++trial) {
      const std::vector<double> u = method.trial();
      multipliers = method.multipliers();
      try {
        now.move_to(u);
        if (method.accepts(now.at.values) || trial == max_trials) break;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::run || trial == max_trials) throw;
        method.shorten();
      }
    }
  }
  result.u = now.at.x;
  result.loss = now.loss;
  result.gradient_norm = norm;
  result.violation = violation;
  result.constraints = now.rows.values();
  result.iterations = iteration;
  result.evaluations = now.evaluations;
  result.reason =
      result.converged ? "gradient and constraints below tolerances" : "maximum number of iterations reached";
  return result;
}

}  // namespace diffsim::inverse
