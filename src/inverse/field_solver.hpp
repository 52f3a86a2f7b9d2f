// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/inverse/prior.hpp"

namespace diffsim::inverse {

/// Solver of A x = b with A = κ² M + K, where M is the lumped mass matrix and K the stiffness matrix of a ValueGradient
/// (the discrete gradient of an unknown's values). The system A x = b is solved by conjugate gradients, with a
/// preconditioner made from the sparse matrix B = κ² M + Dᵀ m D: the Cholesky factors of B on one rank, or symmetric
/// Gauss–Seidel sweeps with B on several ranks and if B has more than 300,000 rows. D is the matrix whose rows
/// `ValueGradient::for_each_row` passes to its argument, and m is the diagonal matrix of the measures (volumes or
/// durations) of the rows of D. For the gradient `ValueGradient::of_cells`, B approximates A, and
/// `ValueGradient::stiffness_times` computes products with K; for all other gradients, B = A.
class FieldSolver {
 public:
  /// Creates the solver. A `gradient` that is the result of `ValueGradient::of_cells` must outlive the FieldSolver; any
  /// other `gradient` is used by the constructor only. `kappa2`: the coefficient κ² of the mass matrix M in the system
  /// (κ² M + K) x = b. `prefix`: prefix of PETSc options, such as "prior_". `fixed`: indices i of this rank's values
  /// with x_i = 0; the right-hand side b must be zero at the indices `fixed`. `fixed` must be empty if `gradient` is
  /// the result of `ValueGradient::of_cells`. Collective.
  FieldSolver(const ValueGradient& gradient, double kappa2, const char* prefix, const std::vector<int>& fixed = {});
  FieldSolver(const FieldSolver&) = delete;
  FieldSolver& operator=(const FieldSolver&) = delete;

  /// Returns the solution x of A x = b with A = κ² M + K. Throws Error (run) if the conjugate gradient method does not
  /// converge to a relative residual of 1e-10. Collective.
  std::vector<double> solve(const std::vector<double>& b) const;

 private:
  static PetscErrorCode multiply(Mat matrix, Vec x, Vec product);

  const ValueGradient* gradient_;  // valid after the constructor for `ValueGradient::of_cells` only
  double kappa2_;
  PetscHandle<Mat, MatDestroy> matrix_;    // sparse matrix of the preconditioner
  PetscHandle<Mat, MatDestroy> operator_;  // matrix-free A; nullptr if `matrix_` is A
  PetscHandle<KSP, KSPDestroy> ksp_;
};

}  // namespace diffsim::inverse
