// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/optimise.hpp"

#include <petsctao.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>

#include "diffsim/core/error.hpp"
#include "inverse/minimise.hpp"
#include "inverse/petsc_vectors.hpp"
#include "inverse/tao_hessian.hpp"

namespace diffsim {

using namespace inverse;

namespace {

PetscErrorCode evaluate(Tao, Vec point, PetscReal* loss, Vec gradient, void* pointer) {
  auto& context = *static_cast<TaoContext*>(pointer);
  try {
    context.move_to(values_of(point));
    *loss = context.loss;
    set_values(gradient, context.g);
  } catch (...) {
    context.error = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

PetscErrorCode monitor(Tao tao, void* pointer) {
  auto& context = *static_cast<TaoContext*>(pointer);
  if (!context.observer) return 0;
  try {
    PetscInt iteration = 0;
    PetscReal loss = 0.0, norm = 0.0;
    DIFFSIM_PETSC(TaoGetSolutionStatus(tao, &iteration, &loss, &norm, nullptr, nullptr, nullptr));
    // BNTR reports iteration 0 twice if its options request a search for the first radius along the gradient.
    if (iteration <= context.told) return 0;
    context.told = static_cast<int>(iteration);
    Vec solution = nullptr;
    DIFFSIM_PETSC(TaoGetSolution(tao, &solution));
    const std::vector<double> u = values_of(solution);
    context.observer({static_cast<int>(iteration), loss, norm, 0.0, context.evaluations, &u});
  } catch (...) {
    context.error = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

/// Calls TaoSetFromOptions. If the user has not given the option `name`, which no API function sets, the option has the
/// value `value` during the call.
void set_from_options(Tao tao, const char* name, const char* value) {
  PetscBool given = PETSC_FALSE;
  DIFFSIM_PETSC(PetscOptionsHasName(nullptr, nullptr, name, &given));
  if (!given) DIFFSIM_PETSC(PetscOptionsSetValue(nullptr, name, value));
  const PetscErrorCode code = TaoSetFromOptions(tao);
  if (!given) DIFFSIM_PETSC(PetscOptionsClearValue(nullptr, name));
  DIFFSIM_PETSC(code);
}

OptimiserResult minimise_by_tao(InverseProblem& problem, const OptimiserOptions& options,
                                const IterateObserver& observer) {
  const bool newton = options.method == Optimiser::newton_cg;
  TaoContext context{problem, observer};
  TaoHessian hessian(problem);
  TaoHandle tao;
  DIFFSIM_PETSC(TaoCreate(problem.comm(), tao.out()));
  // Trust-region methods do not need a positive definite Hessian. Bounded methods also work for unbounded problems.
  DIFFSIM_PETSC(TaoSetType(tao, newton ? TAOBNTR : TAOBLMVM));
  if (newton) hessian.give_to(tao);
  const VecHandle solution = make_vec(problem.comm(), start_of(problem, options));
  const VecHandle low = make_vec(problem.comm(), problem.lower_bounds());
  const VecHandle high = make_vec(problem.comm(), problem.upper_bounds());
  DIFFSIM_PETSC(TaoSetSolution(tao, solution));
  DIFFSIM_PETSC(TaoSetVariableBounds(tao, low, high));
  DIFFSIM_PETSC(TaoSetObjectiveAndGradient(tao, nullptr, evaluate, &context));
  DIFFSIM_PETSC(TaoSetMonitor(tao, monitor, &context, nullptr));
  DIFFSIM_PETSC(TaoSetMaximumIterations(tao, options.max_iterations));
  DIFFSIM_PETSC(TaoSetTolerances(tao, 1e-300, 0.0, options.gradient_tolerance));
  // The radius of the first trust region is the length of the first Newton step. By default TAO would search for this
  // radius along the gradient. The search takes five evaluations and moves unknowns with a small range to their bounds.
  set_from_options(tao, "-tao_bnk_init_type", "direction");
  const PetscErrorCode code = TaoSolve(tao);
  if (context.error) std::rethrow_exception(context.error);
  hessian.rethrow();
  DIFFSIM_PETSC(code);

  OptimiserResult result;
  PetscInt iterations = 0;
  TaoConvergedReason reason = TAO_CONTINUE_ITERATING;
  DIFFSIM_PETSC(TaoGetSolutionStatus(tao, &iterations, &result.loss, &result.gradient_norm, nullptr, nullptr, &reason));
  result.u = values_of(solution);
  result.iterations = static_cast<int>(iterations);
  result.evaluations = context.evaluations;
  result.hessian_products = hessian.products();
  result.converged = reason > 0;
  result.reason = TaoConvergedReasons[reason];
  return result;
}

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
  const GaussNewtonScope scope(problem, options.gauss_newton);
  struct Locating {
    ~Locating() { problem.locate_values_not_finite(true); }
    InverseProblem& problem;
  };
  const Locating locating{problem};
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
