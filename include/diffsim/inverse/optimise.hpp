// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

struct OptimiserOptions {
  /// lbfgs (TAO's bounded limited-memory BFGS), newton_cg (TAO's bounded Newton-Krylov with trust regions, on exact
  /// products with the Hessian), adam
  std::string method = "lbfgs";
  int max_iterations = 50;
  double gradient_tolerance = 1e-8;  ///< on the norm of the projected gradient, relative to the first
  double learning_rate = 0.05;       ///< adam
};

/// State of an optimisation after an iteration; 0 is the start.
struct Iterate {
  int iteration = 0;
  double loss = 0.0;
  double gradient_norm = 0.0;  ///< of the projected gradient, by u
  long evaluations = 0;        ///< of loss and gradient so far
  const std::vector<double>* u = nullptr;
};
using IterateObserver = std::function<void(const Iterate&)>;

struct OptimiserResult {
  std::vector<double> u;
  double loss = 0.0;
  double gradient_norm = 0.0;
  int iterations = 0;
  long evaluations = 0;
  long hessian_products = 0;  ///< newton_cg
  bool converged = false;
  std::string reason;  ///< in words, PETSc's name where TAO stopped
};

/// Minimises the problem's loss within its bounds. Trial points whose rollout fails are stepped back from; Error if the
/// start fails. Collective.
OptimiserResult optimise(InverseProblem& problem, const OptimiserOptions& options,
                         const IterateObserver& observer = {});

}  // namespace diffsim
