// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/inverse/prior.hpp"

namespace diffsim::inverse {

/// Solver of A x = b with A = κ² M + K, where M is the lumped mass matrix and K the stiffness matrix of a
/// ValueGradient. Method: conjugate gradients, preconditioned by symmetric Gauss–Seidel sweeps with the sparse matrix
/// κ² M + Dᵀ m D, where D are the rows of `ValueGradient::for_each_row` and m their measures. This matrix is A, except
/// for `ValueGradient::of_cells`, for which A is applied by `ValueGradient::stiffness_times`.
class FieldSolver {
 public:
  /// `gradient`: must outlive this object if it is the result of `ValueGradient::of_cells`; otherwise used by the
  /// constructor only. `kappa2`: κ². `prefix`: prefix of PETSc options, such as "prior_". `fixed`: indices of this
  /// rank's values x that are zero; b must be zero at these indices. `fixed` must be empty for
  /// `ValueGradient::of_cells`. Collective.
  FieldSolver(const ValueGradient& gradient, double kappa2, const char* prefix, const std::vector<int>& fixed = {});
  FieldSolver(const FieldSolver&) = delete;
  FieldSolver& operator=(const FieldSolver&) = delete;

  /// Returns x. Throws Error of kind `run` if the iteration does not converge to a relative residual of 1e-10.
  /// Collective.
  std::vector<double> solve(const std::vector<double>& b) const;

 private:
  static PetscErrorCode multiply(Mat matrix, Vec x, Vec product);

  const ValueGradient* gradient_;  // valid after the constructor for `ValueGradient::of_cells` only
  double kappa2_;
  PetscHandle<Mat, MatDestroy> matrix_;    // sparse matrix of the preconditioner
  PetscHandle<Mat, MatDestroy> operator_;  // A without entries; nullptr if `matrix_` is A
  PetscHandle<KSP, KSPDestroy> ksp_;
};

}  // namespace diffsim::inverse
