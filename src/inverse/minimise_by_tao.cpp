// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <petsctao.h>

#include <exception>

#include "inverse/minimise.hpp"
#include "inverse/petsc_vectors.hpp"
#include "inverse/tao_hessian.hpp"

namespace diffsim::inverse {
namespace {

PetscErrorCode evaluate_problem(Tao, Vec point, PetscReal* loss, Vec gradient, void* pointer) {
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

PetscErrorCode observe_iteration(Tao tao, void* pointer) {
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

/// Sets the relative tolerance 1e-2 and no preconditioner for the linear systems of Newton's method. Most unknowns of
/// windows are states, which need few digits until the last iterations.
void solve_roughly(Tao tao) {
  KSP solver = nullptr;
  PC preconditioner = nullptr;
  DIFFSIM_PETSC(TaoGetKSP(tao, &solver));
  DIFFSIM_PETSC(KSPSetTolerances(solver, 1e-2, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  DIFFSIM_PETSC(KSPGetPC(solver, &preconditioner));
  DIFFSIM_PETSC(PCSetType(preconditioner, PCNONE));
}

}  // namespace

OptimiserResult minimise_by_tao(InverseProblem& problem, const OptimiserOptions& options,
                                const IterateObserver& observer, bool is_of_windows) {
  const bool newton = options.method == Optimiser::newton_cg;
  TaoContext context{problem, observer};
  TaoHessian hessian(problem);
  TaoHandle tao;
  DIFFSIM_PETSC(TaoCreate(problem.comm(), tao.out()));
  // Trust-region methods do not need a positive definite Hessian. Bounded methods also work for unbounded problems.
  DIFFSIM_PETSC(TaoSetType(tao, newton ? TAOBNTR : TAOBLMVM));
  if (newton) hessian.give_to(tao);
  if (newton && is_of_windows) solve_roughly(tao);
  const VecHandle solution = make_vec(problem.comm(), start_of(problem, options));
  const VecHandle low = make_vec(problem.comm(), problem.lower_bounds());
  const VecHandle high = make_vec(problem.comm(), problem.upper_bounds());
  DIFFSIM_PETSC(TaoSetSolution(tao, solution));
  DIFFSIM_PETSC(TaoSetVariableBounds(tao, low, high));
  DIFFSIM_PETSC(TaoSetObjectiveAndGradient(tao, nullptr, evaluate_problem, &context));
  DIFFSIM_PETSC(TaoSetMonitor(tao, observe_iteration, &context, nullptr));
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

}  // namespace diffsim::inverse
