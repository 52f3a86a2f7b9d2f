// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petsctao.h>

#include <exception>
#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::inverse {

using TaoHandle = PetscHandle<Tao, TaoDestroy>;

/// Start values of the vector u of all unknowns for an optimisation.
inline std::vector<double> start_of(const InverseProblem& problem, const OptimiserOptions& options) {
  return options.start ? *options.start : problem.start();
}

/// Euclidean norm of a distributed vector. Collective.
double norm_of(const std::vector<double>& values, MPI_Comm comm);
/// Norm of the projected gradient, ‖u - clamp(u - g)‖, where g is the gradient and clamp(·) limits each entry to the
/// bounds of u. The norm equals ‖g‖ if u - g is within the bounds of u. Collective.
double projected_norm(const InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& g);

/// Data that TAO's callbacks share. Exceptions cannot propagate through C code, so the callbacks store exceptions in
/// `error`.
struct TaoContext {
  TaoContext(InverseProblem& problem_, const IterateObserver& observer_) : problem(problem_), observer(observer_) {}

  /// Evaluates the loss and its gradient at the point `u_new`. If the rollout at the first point fails, throws Error;
  /// if the rollout at a later point fails, calls `set_failed`. `move_to` does nothing if the last call of `move_to`
  /// had the same argument `u_new`. Collective.
  void move_to(const std::vector<double>& u_new);

  /// Sets the members of TaoContext for a point at which the rollout fails: `loss` to twice the largest loss so far (0
  /// if no loss was positive), `g` to zero, and `failed` to true.
  void set_failed();

  InverseProblem& problem;
  const IterateObserver& observer;
  std::exception_ptr error;
  long evaluations = 0;
  double largest = 0.0;  // largest loss so far; 0 if no loss was positive
  int told = -1;         // last iteration reported to the observer
  // Last point u, with the gradient g and the loss at this point. Trust-region methods evaluate the same point a second
  // time for the gradient; the second evaluation then needs no sweep.
  std::vector<double> u, g;
  double loss = 0.0;
  bool failed = false;  // true: the rollout at u failed
};

/// Minimises the loss by TAO's L-BFGS or Newton–CG method. `is_of_windows`: true for the minimisations of multiple
/// shooting, in which Newton–CG solves linear systems to a relative residual of 1e-2 only.
OptimiserResult minimise_by_tao(InverseProblem& problem, const OptimiserOptions& options,
                                const IterateObserver& observer, bool is_of_windows = false);
/// Minimises the loss by TAO's augmented Lagrangian method, which ends when the gradient of the Lagrangian function and
/// the constraints meet the tolerances of `options`.
OptimiserResult minimise_by_almm(InverseProblem& problem, const OptimiserOptions& options,
                                 const IterateObserver& observer);
/// Minimises the loss by the method of moving asymptotes (MovingAsymptotes). If the rollout fails at a trial point, the
/// next trial point is closer to the last iterate. An iteration of the method of moving asymptotes has at most 30 trial
/// points.
OptimiserResult minimise_by_mma(InverseProblem& problem, const OptimiserOptions& options,
                                const IterateObserver& observer);

/// Minimises the loss by multiple shooting, with the windows of `options.shooting`.
OptimiserResult minimise_by_shooting(InverseProblem& problem, const OptimiserOptions& options,
                                     const IterateObserver& observer);

}  // namespace diffsim::inverse
