// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/optimise.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "inverse/minimise.hpp"

namespace diffsim {

using namespace inverse;

namespace {

/// Minimises the loss by Adam (Kingma & Ba 2015, algorithm 1). Each update is clamped to the bounds. If the rollout
/// fails after an update, the update is halved, at most 20 times.
OptimiserResult minimise_by_adam(InverseProblem& problem, const OptimiserOptions& options,
                                 const IterateObserver& observer) {
  constexpr double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-12;
  const std::vector<double> low = problem.lower_bounds(), high = problem.upper_bounds();
  OptimiserResult result;
  std::vector<double> u = start_of(problem, options), g, m(u.size(), 0.0), v(u.size(), 0.0);
  double loss = problem.gradient(u, g);
  // From now on, a gradient that is not finite counts as a failed rollout.
  problem.locate_values_not_finite(false);
  result.evaluations = 1;
  const double first_norm = projected_norm(problem, u, g);
  double norm = first_norm;
  int iteration = 0;
  for (;; ++iteration) {
    if (observer) observer({iteration, loss, norm, 0.0, result.evaluations, &u});
    result.converged = norm <= options.gradient_tolerance * first_norm;
    if (result.converged || iteration == options.max_iterations) break;
    const double correction1 = 1.0 - std::pow(beta1, iteration + 1), correction2 = 1.0 - std::pow(beta2, iteration + 1);
    std::vector<double> step(u.size());
    for (std::size_t i = 0; i < u.size(); ++i) {
      m[i] = beta1 * m[i] + (1.0 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i];
      const double scale = std::sqrt(v[i] / correction2);
      step[i] = scale > 0.0 ? options.learning_rate * (m[i] / correction1) / (scale + epsilon * scale) : 0.0;
    }
    constexpr int max_cuts = 20;
    for (int cut = 0;; ++cut) {
      std::vector<double> trial = u;
      for (std::size_t i = 0; i < u.size(); ++i)
        trial[i] = std::clamp(u[i] - std::ldexp(step[i], -cut), low[i], high[i]);
      try {
        loss = problem.gradient(trial, g);
        ++result.evaluations;
        u = trial;
        break;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::run || cut == max_cuts) throw;
        ++result.evaluations;
      }
    }
    norm = projected_norm(problem, u, g);
  }
  result.u = u;
  result.loss = loss;
  result.gradient_norm = norm;
  result.iterations = iteration;
  result.reason = result.converged ? "gradient below tolerance" : "maximum number of iterations reached";
  return result;
}

/// Throws Error (input) if the method does not support the constraints.
void check_constraints(const OptimiserOptions& options) {
  const bool constrained = options.method == Optimiser::mma || options.method == Optimiser::almm;
  if (!constrained && !options.constraints.empty())
    throw Error(std::string("the method ") + optimisers[static_cast<std::size_t>(options.method)] +
                    " does not support constraints; use mma or almm",
                ErrorKind::input);
  if (options.method == Optimiser::almm && options.constraints.empty())
    throw Error("the method almm needs constraints; without constraints, use lbfgs or newton_cg", ErrorKind::input);
}

}  // namespace

OptimiserResult optimise(InverseProblem& problem, const OptimiserOptions& options, const IterateObserver& observer) {
  check_constraints(options);
  struct Locating {
    ~Locating() { problem.locate_values_not_finite(true); }
    InverseProblem& problem;
  };
  const Locating locating{problem};
  if (options.shooting.windows != 0) return minimise_by_shooting(problem, options, observer);
  const GaussNewtonScope scope(problem, options.gauss_newton);
  switch (options.method) {
    case Optimiser::adam:
      return minimise_by_adam(problem, options, observer);
    case Optimiser::mma:
      return minimise_by_mma(problem, options, observer);
    case Optimiser::almm:
      return minimise_by_almm(problem, options, observer);
    default:
      return minimise_by_tao(problem, options, observer);
  }
}

}  // namespace diffsim
