// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"
#include "inverse/slope.hpp"

// Common parts of the checks of first and second derivatives.

namespace diffsim::inverse {

/// Tightens the solver of a Model during the lifetime of this object, if rollouts succeed with the tightened solver.
/// Checks then compare derivatives without the errors that the solver's tolerance causes.
class TightSolver {
 public:
  /// Tightens the solver and evaluates the problem's loss at u by a rollout. If the rollout fails, restores the given
  /// tolerances.
  TightSolver(InverseProblem& problem, const std::vector<double>& u);
  TightSolver(const TightSolver&) = delete;
  TightSolver& operator=(const TightSolver&) = delete;
  ~TightSolver() { loosen(); }
  void tighten() { problem_.tighten_solvers(factor_); }
  void loosen() { problem_.tighten_solvers(1.0); }
  double given_tolerance() const { return given_tolerance_; }

 private:
  InverseProblem& problem_;
  double factor_ = 1e-3, given_tolerance_;
};

/// Returns L(u) and sets `gradient`, also if some of its entries are not finite. If an entry is not finite,
/// `not_finite` is the error message, which names the location of the first value that is not finite; otherwise
/// `not_finite` is empty. Collective.
double gradient_even_if_not_finite(InverseProblem& problem, const std::vector<double>& u, std::vector<double>& gradient,
                                   std::string& not_finite);

/// Factor by which checks multiply the error bound of a finite difference, because the bound is accurate only to an
/// order of magnitude.
inline constexpr double safety = 10.0;

/// Σ a_i b_i over all ranks. Collective.
double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm);
/// Random number generator with a different seed on each rank, the same in every run.
std::mt19937_64 generator(unsigned seed, MPI_Comm comm);
/// Random direction of u with nonzero entries for unknown k only. Each of these entries is a random factor in [½, 1½]
/// times a scale. The scale is the largest magnitude of the unknown's values on all ranks, or 1 if all values are zero
/// or the unknown is logarithmic.
std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed);
/// Function ε ↦ f(u + ε v); NaN if the rollout fails. The function stores references to `u` and `v`.
Line along(const std::vector<double>& u, const std::vector<double>& v,
           std::function<double(const std::vector<double>&)> f);

}  // namespace diffsim::inverse
