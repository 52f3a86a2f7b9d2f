// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/tao_hessian.hpp"

#include "diffsim/core/error.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim::inverse {
namespace {

PetscErrorCode make_submatrix(Mat matrix, IS rows, IS columns, MatReuse, Mat* submatrix) {
  return MatCreateSubMatrixVirtual(matrix, rows, columns, submatrix);
}

}  // namespace

TaoHessian::TaoHessian(InverseProblem& problem) : problem_(problem) {
  const auto size = static_cast<PetscInt>(problem.size());
  DIFFSIM_PETSC(MatCreateShell(problem.comm(), size, size, PETSC_DETERMINE, PETSC_DETERMINE, this, matrix_.out()));
  DIFFSIM_PETSC(MatShellSetOperation(matrix_, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply)));
  DIFFSIM_PETSC(MatShellSetOperation(matrix_, MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)(void)>(multiply)));
  DIFFSIM_PETSC(
      MatShellSetOperation(matrix_, MATOP_CREATE_SUBMATRIX, reinterpret_cast<void (*)(void)>(make_submatrix)));
  DIFFSIM_PETSC(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
}

void TaoHessian::give_to(Tao tao) { DIFFSIM_PETSC(TaoSetHessian(tao, matrix_, matrix_, move_to, this)); }

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

}  // namespace diffsim::inverse
