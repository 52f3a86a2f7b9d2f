// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace diffsim::inverse {

/// Values and gradients of an objective f = g_0 and of inequalities g_i(x) ≤ 0, i = 1, 2, …, at a point x.
struct Linearisation {
  std::vector<double> x;       ///< this rank's part of the point x
  std::vector<double> values;  ///< values of g_0 = f, g_1, g_2, … at the point x, the same on all ranks
  std::vector<std::vector<double>> gradients;  ///< this rank's parts of the gradients of g_0 = f, g_1, g_2, …
};

/// Globally convergent method of moving asymptotes (Svanberg 1987 and 2002; coefficients of Svanberg 2007, "MMA and
/// GCMMA – two methods for nonlinear optimization"). Each iteration approximates each of the functions g_0 = f, g_1,
/// g_2, … of Linearisation by the convex, separable function
///   g̃_i(x) = r_i + Σ_j (p_ij/(U_j - x_j) + q_ij/(x_j - L_j))
/// with coefficients r_i, p_ij ≥ 0 and q_ij ≥ 0, such that g̃_i has the value and the gradient of g_i at the current
/// point. The asymptotes L_j and U_j satisfy L_j < x_j < U_j at the current point x. The trial point minimises
///   g̃_0(x) + Σ_{i≥1} (c y_i + y_i²/2),   c = 1000,
/// over x and y_i, subject to g̃_i(x) ≤ y_i, y_i ≥ 0, the bounds of x and the move limits. The value y_i is the
/// permitted violation of the approximated inequality g̃_i(x) ≤ 0. The dual problem of this minimisation, with one
/// multiplier λ_i ≥ 0 per inequality, is solved by TAO's bounded Newton method. If a function g_i exceeds the
/// approximation g̃_i at the trial point, the parameter ρ_i, which determines the curvature of g̃_i, is increased, and
/// the next trial point is closer to the current point. The entries of the point x are distributed over the ranks.
class MovingAsymptotes {
 public:
  /// `lower`, `upper`: finite bounds of this rank's part of the point x. `move_limit`: largest change of x_j in an
  /// iteration, relative to upper_j - lower_j.
  MovingAsymptotes(MPI_Comm comm, std::vector<double> lower, std::vector<double> upper, double move_limit);

  /// Begins an iteration of the method at the current point `at`. Collective.
  void begin(const Linearisation& at);
  /// Returns this rank's part of the iteration's next trial point. Collective.
  std::vector<double> trial();
  /// Returns true if no function g_i exceeds its approximation g̃_i at the last trial point, or if the last trial point
  /// equals the current point. Otherwise increases the curvatures of the approximations that are exceeded, and returns
  /// false. `values`: values of the functions g_0 = f, g_1, g_2, … at the last trial point. Collective.
  bool accepts(const std::vector<double>& values);
  /// Increases the curvatures of the approximations of all functions g_i, so that the next trial point is closer to the
  /// current point. A caller calls `shorten` if the functions g_i could not be evaluated at the trial point.
  void shorten();
  /// Lagrange multipliers of the inequalities at the last trial point.
  const std::vector<double>& multipliers() const { return multipliers_; }

 private:
  void move_asymptotes(const std::vector<double>& x);
  /// Returns Σ_j |∂g_i/∂x_j| `range(j)` / n for each of the functions g_0 = f, g_1, g_2, …, where `range(j)` is the
  /// length of the range of x_j and n is the number of entries of x on all ranks.
  std::vector<double> mean_changes(const Linearisation& at) const;
  /// Returns the length upper_j - lower_j of the range of x_j, or 1 if x_j cannot change because the bounds are equal.
  double range(std::size_t j) const { return upper_[j] > lower_[j] ? upper_[j] - lower_[j] : 1.0; }

  MPI_Comm comm_;
  std::vector<double> lower_, upper_;
  double move_limit_;
  std::vector<double> low_, high_;          // asymptotes L_j, U_j
  std::vector<double> last_, before_last_;  // points of the last two iterations
  int iteration_ = 0;
  Linearisation at_;                // current point
  std::vector<double> scales_;      // factors of f and of each g_i in the subproblem; empty before the first iteration
  std::vector<double> curvatures_;  // parameters ρ_i, which determine the curvatures
  std::vector<double> x_;           // trial point
  std::vector<double> magnitudes_;  // sums of the approximations' terms at the trial point, for estimates of rounding
  std::vector<double> approximated_;  // scaled values of the approximations at the trial point
  std::vector<double> multipliers_;   // λ_i of the inequalities g_i ≤ 0 without the factors `scales_`
};

}  // namespace diffsim::inverse
