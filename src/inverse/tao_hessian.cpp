// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/tao_hessian.hpp"

#include "diffsim/core/error.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim::inverse {
TaoHessian::TaoHessian(InverseProblem& problem) : problem_(problem) {
  const auto size = static_cast<PetscInt>(problem.size());
  DIFFSIM_PETSC(MatCreateShell(problem.comm(), size, size, PETSC_DETERMINE, PETSC_DETERMINE, this, matrix_.out()));
  DIFFSIM_PETSC(MatShellSetOperation(matrix_, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply)));
  DIFFSIM_PETSC(MatShellSetOperation(matrix_, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)(void)>(multiply)));
  DIFFSIM_PETSC(
      MatShellSetOperation(matrix_, MATOP_CREATE_SUBMATRIX, reinterpret_cast<void (*)(void)>(make_submatrix)));
  DIFFSIM_PETSC(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
}

void TaoHessian::give_to(Tao tao) {
  DIFFSIM_PETSC(TaoSetHessian(tao, matrix_, matrix_, move_to, this));
  if (!problem_.has_prior_covariance()) return;
  KSP solver = nullptr;
  PC preconditioner = nullptr;
  DIFFSIM_PETSC(TaoGetKSP(tao, &solver));
  DIFFSIM_PETSC(KSPGetPC(solver, &preconditioner));
  DIFFSIM_PETSC(PCSetType(preconditioner, PCSHELL));
  DIFFSIM_PETSC(PCShellSetContext(preconditioner, this));
  DIFFSIM_PETSC(PCShellSetName(preconditioner, "prior covariance"));
  DIFFSIM_PETSC(PCShellSetApply(preconditioner, precondition));
}

void TaoHessian::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

PetscErrorCode TaoHessian::move_to(Tao, Vec u, Mat, Mat, void* pointer) {
  auto& hessian = *static_cast<TaoHessian*>(pointer);
  try {
    hessian.u_ = values_of(u);
  } catch (...) {
    hessian.error_ = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

PetscErrorCode TaoHessian::multiply(Mat matrix, Vec v, Vec product) {
  void* pointer = nullptr;
  if (const PetscErrorCode code = MatShellGetContext(matrix, &pointer)) return code;
  auto& hessian = *static_cast<TaoHessian*>(pointer);
  try {
    set_values(product, hessian.problem_.hessian_product(hessian.u_, values_of(v)));
    ++hessian.products_;
  } catch (...) {
    hessian.error_ = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

PetscErrorCode TaoHessian::make_submatrix(Mat matrix, IS rows, IS columns, MatReuse /*reuse*/, Mat* submatrix) {
  void* pointer = nullptr;
  if (const PetscErrorCode code = MatShellGetContext(matrix, &pointer)) return code;
  auto& hessian = *static_cast<TaoHessian*>(pointer);
  try {
    PetscInt begin = 0, count = 0;
    const PetscInt* indices = nullptr;
    DIFFSIM_PETSC(MatGetOwnershipRange(matrix, &begin, nullptr));
    DIFFSIM_PETSC(ISGetLocalSize(rows, &count));
    DIFFSIM_PETSC(ISGetIndices(rows, &indices));
    hessian.rows_.clear();
    for (PetscInt i = 0; i < count; ++i) hessian.rows_.push_back(static_cast<std::size_t>(indices[i] - begin));
    DIFFSIM_PETSC(ISRestoreIndices(rows, &indices));
  } catch (...) {
    hessian.error_ = std::current_exception();
    return PETSC_ERR_USER;
  }
  return MatCreateSubMatrixVirtual(matrix, rows, columns, submatrix);
}

PetscErrorCode TaoHessian::precondition(PC pc, Vec v, Vec product) {
  void* pointer = nullptr;
  if (const PetscErrorCode code = PCShellGetContext(pc, &pointer)) return code;
  auto& hessian = *static_cast<TaoHessian*>(pointer);
  try {
    PetscInt all = 0, used = 0;
    DIFFSIM_PETSC(MatGetSize(hessian.matrix_, &all, nullptr));
    DIFFSIM_PETSC(VecGetSize(v, &used));
    std::vector<double> values = values_of(v);
    if (used == all) {
      set_values(product, hessian.problem_.prior_covariance_product(values));
      return 0;
    }
    // Submatrix of the covariance matrix: values that are not in the submatrix are zero.
    std::vector<double> padded(hessian.problem_.size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) padded[hessian.rows_[i]] = values[i];
    padded = hessian.problem_.prior_covariance_product(padded);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = padded[hessian.rows_[i]];
    set_values(product, values);
  } catch (...) {
    hessian.error_ = std::current_exception();
    return PETSC_ERR_USER;
  }
  return 0;
}

}  // namespace diffsim::inverse
