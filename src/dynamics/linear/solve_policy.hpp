// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace diffsim::dynamics {

/// Policy for the linear solves of a time step that fail because of the preconditioner. A preconditioner may fail if
/// contact barriers have stiffened since the preconditioner was computed.
///
/// After the first solve of a time step that fails because of the preconditioner, the linear system is solved once more
/// with a new preconditioner. The diagonal blocks of the smoother of the finest multigrid level are then recomputed for
/// every later matrix of the time step. If a later solve of the time step with a positive definite matrix of at most
/// `most_factored` unknowns fails because of the preconditioner, the system of the failed solve and all later systems
/// of the time step are solved by factorisation. A SolvePolicy stores only flags and a counter. All ranks must call the
/// same functions of a SolvePolicy with the same arguments.
class SolvePolicy {
 public:
  /// Largest number of unknowns of a system that is factored after failed solves.
  static constexpr std::int64_t most_factored = 300000;
  /// Upper bound of the eigenvalues of D⁻¹A if A is a sum of positive semidefinite contributions of contact pairs with
  /// four vertices each, and D consists of the vertices' 3×3 diagonal blocks of A.
  static constexpr double of_pairs = 4.0;

  /// Outcome of a solve. At most one of `converged`, `indefinite_preconditioner` and `indefinite_matrix` is true.
  struct Outcome {
    bool converged = false;
    /// True if the Krylov method stopped because the preconditioner is indefinite.
    bool indefinite_preconditioner = false;
    bool indefinite_matrix = false;  ///< true if the Krylov method stopped because the matrix is indefinite
    bool definite = false;           ///< true if the matrix was projected to a positive definite matrix
    /// True if the solve did not converge, the matrix is symmetric and contains contributions of contact, and the
    /// preconditioner has an expensive set-up.
    bool may_be_outdated = false;
  };
  /// Operation after a solve: `accept` uses the outcome, even if the solve failed; `retry` solves the system with a new
  /// preconditioner; `factor` solves the system by factorisation.
  enum class Next { accept, retry, factor };

  /// Begins a time step, whose result does not depend on failures in earlier time steps.
  void begin_step() { careful_ = gave_up_ = false; }
  /// Returns true if a solve with the outcome `outcome` failed because of the preconditioner.
  static bool is_at_fault(const Outcome& outcome);
  /// Records the outcome of a solve of a system with `unknowns` unknowns. Returns the operation by which the caller
  /// must continue: accept the outcome, repeat the solve, or factor the matrix.
  Next record(const Outcome& outcome, std::int64_t unknowns);

  /// Returns true if the diagonal blocks of the smoother of the finest multigrid level are recomputed for every later
  /// matrix of the present time step.
  bool is_careful() const { return careful_; }
  /// Returns true if the remaining systems of the present time step are solved by factorisation.
  bool factors() const { return gave_up_; }
  /// Returns the smallest permitted upper bound of the eigenvalues that the smoother of the finest multigrid level
  /// covers.
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
/// `has_operator`: true if the solver computes products with an operator other than the matrix.
inline bool may_use_single_products(double tolerance, bool is_conjugate, bool is_present, bool has_operator) {
  return tolerance >= least_single_tolerance && is_conjugate && is_present && !has_operator;
}

/// Interval of eigenvalues of D⁻¹A that a Chebyshev smoother covers, where A is the operator of a multigrid level and D
/// is the diagonal or block diagonal of A.
struct SmootherBounds {
  double lowest = 0.0, highest = 0.0;
};
/// Returns the interval [b/11, b], where b is the larger of `least_bound` and 1.1 times the estimate `largest` of the
/// largest eigenvalue.
SmootherBounds smoother_bounds(double largest, double least_bound);

/// Choice of the factorisation of a matrix.
struct FactorChoice {
  bool copies = false;  ///< true if each rank factors a copy of the whole matrix
  /// True if PETSc's own factorisation, which does not pivot, is used. `without_pivoting` is ignored if PETSc was built
  /// without MUMPS.
  bool without_pivoting = false;
};
/// Returns how a matrix with `unknowns` unknowns on `ranks` ranks is factored. `by_options`: true if PETSc's options
/// choose the solver. `is_aij`: true if the matrix has the type AIJ, as PETSc's own factorisation requires.
/// `needs_pivoting`: true if a factorisation without pivoting has failed in the present time step.
FactorChoice choose_factors(std::int64_t unknowns, int ranks, bool by_options, bool is_aij, bool needs_pivoting);

}  // namespace diffsim::dynamics
