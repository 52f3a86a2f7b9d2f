// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim {

/// Optimisation method.
enum class Optimiser {
  lbfgs,      ///< TAO's bounded limited-memory BFGS
  newton_cg,  ///< TAO's bounded Newton-Krylov method with trust regions, with Hessian-vector products
  adam        ///< Kingma & Ba 2015
};
/// Names of the methods in scenes, in the order of the enumeration.
inline constexpr std::array<const char*, 3> optimisers = {"lbfgs", "newton_cg", "adam"};

struct OptimiserOptions {
  Optimiser method = Optimiser::lbfgs;
  int max_iterations = 50;
  double gradient_tolerance =
      1e-8;                     ///< largest allowed ratio of the projected gradient's norm to its norm at the start
  double learning_rate = 0.05;  ///< step size of Adam
  /// True: newton_cg uses the Gauss–Newton matrix instead of the Hessian (InverseProblem::use_gauss_newton).
  bool gauss_newton = false;
};

/// State of an optimisation after an iteration; iteration 0 is the start.
struct Iterate {
  int iteration = 0;
  double loss = 0.0;
  double gradient_norm = 0.0;  ///< norm of the projected gradient ∂L/∂u
  long evaluations = 0;        ///< number of evaluations of loss and gradient so far
  const std::vector<double>* u = nullptr;
};
using IterateObserver = std::function<void(const Iterate&)>;

struct OptimiserResult {
  std::vector<double> u;
  double loss = 0.0;
  double gradient_norm = 0.0;
  int iterations = 0;
  long evaluations = 0;
  long hessian_products = 0;  ///< number of Hessian-vector products of newton_cg
  bool converged = false;
  std::string reason;  ///< why the optimisation ended; for TAO's methods, the name of the TaoConvergedReason
};

/// Minimises the problem's loss within the bounds of the unknowns. Returns the last iterate. If the rollout fails at a
/// trial point, the optimiser shortens its step. Throws Error if the rollout fails at the start point. Collective.
OptimiserResult optimise(InverseProblem& problem, const OptimiserOptions& options,
                         const IterateObserver& observer = {});

}  // namespace diffsim
