// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petsctao.h>

#include <exception>
#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/inverse/problem.hpp"

namespace diffsim::inverse {

/// Matrix-free PETSc matrix for TAO: the Hessian ∂²L/∂u² of the loss L, or the Gauss–Newton matrix, at the point u that
/// TAO requests. TAO's methods with bounds need submatrices of the Hessian for the unknowns that are not at a bound;
/// the submatrices are matrix-free, like the Hessian. If the priors of the inverse problem determine a covariance
/// matrix, the covariance matrix is the preconditioner of TAO's linear systems: the eigenvalues of the preconditioned
/// Hessian are close to 1 for all directions of u that the priors determine better than the observations do.
class TaoHessian {
 public:
  explicit TaoHessian(InverseProblem& problem);
  TaoHessian(const TaoHessian&) = delete;
  TaoHessian& operator=(const TaoHessian&) = delete;

  void give_to(Tao tao);
  long products() const { return products_; }
  /// Rethrows the exception that a PETSc callback of TaoHessian has caught, if any. Exceptions cannot propagate through
  /// PETSc's C code.
  void rethrow() const;

 private:
  static PetscErrorCode move_to(Tao tao, Vec u, Mat matrix, Mat preconditioner, void* pointer);
  static PetscErrorCode multiply(Mat matrix, Vec v, Vec product);
  static PetscErrorCode make_submatrix(Mat matrix, IS rows, IS columns, MatReuse reuse, Mat* submatrix);
  static PetscErrorCode precondition(PC pc, Vec v, Vec product);

  InverseProblem& problem_;
  PetscHandle<Mat, MatDestroy> matrix_;
  std::vector<std::size_t> rows_;  // this rank's rows of the last submatrix
  std::vector<double> u_;
  std::exception_ptr error_;
  long products_ = 0;
};

}  // namespace diffsim::inverse
