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

/// Scope in which the tolerances of the Models' solvers are multiplied by 1e-3, if a rollout of the problem at u
/// succeeds with these tolerances. Checks then compare derivatives without the errors that the solver's tolerance
/// causes.
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

/// Returns the loss L(u) and sets `gradient`, even if entries of the gradient are not finite. In this case `not_finite`
/// is set to an error message, which names the location of the first value that is not finite. Otherwise `not_finite`
/// is set to an empty string. Collective.
double gradient_even_if_not_finite(InverseProblem& problem, const std::vector<double>& u, std::vector<double>& gradient,
                                   std::string& not_finite);

/// Factor by which checks multiply the error bound of a finite difference, because the bound is accurate only to an
/// order of magnitude.
inline constexpr double safety = 10.0;

/// Inner product Σ a_i b_i of two vectors that are distributed over the ranks. Collective.
double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm);
/// Random number generator with a seed computed from `seed` and the rank, so that the numbers differ from rank to rank
/// and are the same in every run.
std::mt19937_64 generator(unsigned seed, MPI_Comm comm);
/// Random direction in the space of u, with nonzero entries for the values of unknown k only. Each of these entries is
/// a random factor in [½, 1½] times a scale. The scale is the largest magnitude of the unknown's values on all ranks.
/// If all values are zero, the scale is half the range of the bounds, a tenth of the radius of a filter of shapes
/// without bounds, or 1. The scale of a logarithmic unknown is 1.
std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed);
/// Returns the function ε ↦ f(u + ε v). The value of the function is NaN if f throws an Error whose kind is not
/// `system`. The function stores references to `u` and `v`.
Line along(const std::vector<double>& u, const std::vector<double>& v,
           std::function<double(const std::vector<double>&)> f);

}  // namespace diffsim::inverse
