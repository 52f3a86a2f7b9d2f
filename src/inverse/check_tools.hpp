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

/// Object during whose lifetime the tolerances of the solvers of the problem's Models are multiplied by 1e-3, if a
/// rollout with the unknowns u succeeds with the reduced tolerances. Checks of derivatives are then hardly affected by
/// the errors that the tolerances of the solvers cause.
class TightSolver {
 public:
  /// Reduces the tolerances of the solvers and evaluates the problem's loss at u by a rollout. If the rollout fails
  /// with the reduced tolerances, the constructor restores the original tolerances. The constructor does nothing if
  /// `problem.solver_tolerance()` is 0.
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

/// Returns the loss L(u) and sets `gradient`, even if entries of the gradient are not finite. If entries are not
/// finite, `not_finite` is set to an error message, which names the location where the reverse sweep first finds a
/// value that is not finite. Otherwise, `not_finite` is set to an empty string. Collective.
double gradient_even_if_not_finite(InverseProblem& problem, const std::vector<double>& u, std::vector<double>& gradient,
                                   std::string& not_finite);

/// Factor by which checks multiply the error bound of a finite difference, because the error bound is accurate only to
/// an order of magnitude.
inline constexpr double safety = 10.0;

/// Inner product Σ a_i b_i of two vectors that are distributed over the ranks. Collective.
double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm);
/// Random number generator with a seed computed from `seed` and the rank, so that the random numbers differ from rank
/// to rank and are the same in every run.
std::mt19937_64 generator(unsigned seed, MPI_Comm comm);
/// Random direction in the space of the vector u of all unknowns, with nonzero entries for the values of unknown k
/// only. Each nonzero entry is a random factor in [0.5, 1.5] times the scale of unknown k. The scale is 1 if the
/// unknown is the logarithm of a parameter, otherwise the largest magnitude of the unknown's values on all ranks. If
/// the unknown is not logarithmic and all its values are zero, the scale is half the distance between the unknown's
/// bounds. If a bound is infinite, the scale is instead a tenth of the radius of the unknown's shape filter, or 1
/// without a shape filter. Collective.
std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed);
/// Returns the function ε ↦ f(u + ε v) of one real variable ε. The returned function has the value NaN if the argument
/// `f` throws an Error whose kind is not `system`. The returned function stores references to the vectors `u` and `v`.
Line along(const std::vector<double>& u, const std::vector<double>& v,
           std::function<double(const std::vector<double>&)> f);

}  // namespace diffsim::inverse
