// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <random>
#include <vector>

#include "diffsim/inverse/problem.hpp"
#include "inverse/slope.hpp"

// Parts that the checks of first and of second derivatives share.

namespace diffsim::inverse {

/// A Model whose solver is tightened as long as this lives, if rollouts succeed so: what is compared are derivatives
/// then, and not the solver's tolerance.
class TightSolver {
 public:
  /// Evaluates the problem's loss at u, which succeeds without the tightening at least.
  TightSolver(InverseProblem& problem, const std::vector<double>& u);
  TightSolver(const TightSolver&) = delete;
  TightSolver& operator=(const TightSolver&) = delete;
  ~TightSolver() { loosen(); }
  void tighten() { model_.tighten_solver(factor_); }
  void loosen() { model_.tighten_solver(1.0); }
  double given_tolerance() const { return given_tolerance_; }

 private:
  Model& model_;
  double factor_ = 1e-3, given_tolerance_;
};

/// Errors of differences are bounded in order of magnitude; a verdict allows so many times the bound.
inline constexpr double safety = 10.0;

double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm);
/// Random numbers that differ from rank to rank and repeat from run to run.
std::mt19937_64 generator(unsigned seed, MPI_Comm comm);
/// A direction in unknown k alone: its size ([½, 1½] times) where it is not zero, else ones; logarithms move by about
/// one.
std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed);
/// ε ↦ f(u + ε v), NaN where the rollout fails.
Line along(const std::vector<double>& u, const std::vector<double>& v,
           std::function<double(const std::vector<double>&)> f);

}  // namespace diffsim::inverse
