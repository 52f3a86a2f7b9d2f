// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/inverse/prior.hpp"

namespace diffsim::inverse {

/// Solver of A x = b with A = κ² M + K, where M is the lumped mass matrix and K the stiffness matrix of a ValueGradient
/// other than `of_cells`. Method: conjugate gradients with symmetric Gauss–Seidel sweeps.
class FieldSolver {
 public:
  /// `gradient`: used by the constructor only. `kappa2`: κ². `prefix`: prefix of PETSc options, such as "prior_".
  /// `fixed`: indices of this rank's values x that are zero; b must be zero at these indices.
  /// Collective.
  FieldSolver(const ValueGradient& gradient, double kappa2, const char* prefix, const std::vector<int>& fixed = {});

  /// Returns x. Throws Error of kind `run` if the iteration does not converge to a relative residual of 1e-10.
  /// Collective.
  std::vector<double> solve(const std::vector<double>& b) const;

 private:
  PetscHandle<Mat, MatDestroy> matrix_;
  PetscHandle<KSP, KSPDestroy> ksp_;
};

}  // namespace diffsim::inverse
