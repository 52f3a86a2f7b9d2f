// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace diffsim::dynamics {

/// Policy for linear solves that fail because of their preconditioner, within a time step. Barriers of contact may have
/// stiffened since the preconditioner was computed.
///
/// After the first failure in a time step, the system is solved once more with another preconditioner, and the
/// smoothers are updated with every later matrix of the time step. After a further failure with a positive definite
/// matrix of at most `most_factored` unknowns, this system and all later systems of the time step are factored. Objects
/// of this class store only flags and a counter. All ranks make the same calls.
class SolvePolicy {
 public:
  static constexpr std::int64_t most_factored = 300000;  ///< largest number of unknowns to factor after failures
  /// Upper bound of the eigenvalues of D⁻¹A if A is a sum of positive semidefinite contributions of contact pairs with
  /// four vertices each, and D consists of the vertices' 3×3 diagonal blocks of A.
  static constexpr double of_pairs = 4.0;

  /// Outcome of a solve. At most one of the first three members is true.
  struct Outcome {
    bool converged = false;
    bool indefinite_preconditioner = false;  ///< the Krylov method stopped because the preconditioner is indefinite
    bool indefinite_matrix = false;          ///< the Krylov method stopped because the matrix is indefinite
    bool definite = false;                   ///< the matrix was projected to a positive definite matrix
    /// The matrix is symmetric and contains contact, and the solve used a preconditioner with an expensive set-up.
    bool may_be_outdated = false;
  };
  /// Operation after a solve. accept: use the outcome, even if the solve failed. retry: solve with a new
  /// preconditioner. factor: solve by factorisation.
  enum class Next { accept, retry, factor };

  /// Begins a time step, whose result does not depend on failures in earlier time steps.
  void begin_step() { careful_ = gave_up_ = false; }
  /// Returns true if a solve with this outcome failed because of the preconditioner.
  static bool is_at_fault(const Outcome& outcome);
  /// Records the outcome of a solve of a system with `unknowns` unknowns. Returns how the caller must continue: accept
  /// the outcome, repeat the solve, or factor the matrix.
  Next record(const Outcome& outcome, std::int64_t unknowns);

  /// Returns true if the smoothers are updated with every matrix of the present time step.
  bool is_careful() const { return careful_; }
  /// Returns true if the remaining systems of the present time step are solved by factorisation.
  bool factors() const { return gave_up_; }
  /// Returns the smallest permitted value of the upper bound of the smoother's spectrum on the finest multigrid level.
  double least_bound() const { return careful_ ? of_pairs : 0.0; }
  /// Returns the number of time steps that switched from a Krylov method to factorisation.
  long changes_to_factors() const { return changes_to_factors_; }

 private:
  bool careful_ = false, gave_up_ = false;
  long changes_to_factors_ = 0;
};

/// Smallest tolerance of a solve that may use products in single precision.
constexpr double least_single_tolerance = 1e-5;

/// Returns true if a solve to `tolerance` may use products in single precision. `is_conjugate`: true if the solver is
/// the conjugate gradient method. `is_present`: true if the preconditioner was computed from the present matrix.
/// `has_operator`: true if the solver multiplies with another operator than the matrix.
inline bool may_use_single_products(double tolerance, bool is_conjugate, bool is_present, bool has_operator) {
  return tolerance >= least_single_tolerance && is_conjugate && is_present && !has_operator;
}

/// Interval of eigenvalues of D⁻¹A that a Chebyshev smoother covers, where A is the level's operator and D is its
/// diagonal or block diagonal.
struct SmootherBounds {
  double lowest = 0.0, highest = 0.0;
};
/// Returns [b/11, b], where b is 1.1 times the estimate `largest` of the largest eigenvalue, and at least
/// `least_bound`.
SmootherBounds smoother_bounds(double largest, double least_bound);

/// Choice of the factorisation of a matrix.
struct FactorChoice {
  bool copies = false;  ///< true: each rank factors a copy of the whole matrix
  /// True: PETSc factors without pivoting; only if another package with pivoting is available.
  bool without_pivoting = false;
};
/// Returns how a matrix with `unknowns` unknowns on `ranks` ranks is factored. `by_options`: true if PETSc's options
/// choose the solver. `is_aij`: true if the matrix has the type AIJ, which PETSc can factor. `needs_pivoting`: true if
/// a factorisation without pivoting has failed in this time step.
FactorChoice choose_factors(std::int64_t unknowns, int ranks, bool by_options, bool is_aij, bool needs_pivoting);

}  // namespace diffsim::dynamics
