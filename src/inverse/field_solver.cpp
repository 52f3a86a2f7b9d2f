// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/field_solver.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim::inverse {
namespace {

/// Adds the entries of κ² M + K = κ² M + Dᵀ m D to `matrix`, where m are the measures of the rows of D.
void add_entries(const ValueGradient& gradient, double kappa2, Mat matrix) {
  PetscInt begin = 0;
  DIFFSIM_PETSC(MatGetOwnershipRange(matrix, &begin, nullptr));
  for (std::size_t i = 0; i < gradient.lumped().size(); ++i) {
    const PetscInt row = begin + static_cast<PetscInt>(i);
    DIFFSIM_PETSC(MatSetValue(matrix, row, row, kappa2 * gradient.lumped()[i], ADD_VALUES));
  }
  gradient.for_each_row(
      [&](const std::vector<std::int64_t>& numbers, const std::vector<double>& entries, double measure) {
        const std::vector<PetscInt> columns(numbers.begin(), numbers.end());
        std::vector<double> block;
        for (const double a : entries)
          for (const double b : entries) block.push_back(measure * a * b);
        const auto count = static_cast<PetscInt>(columns.size());
        DIFFSIM_PETSC(MatSetValues(matrix, count, columns.data(), count, columns.data(), block.data(), ADD_VALUES));
      });
  DIFFSIM_PETSC(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  DIFFSIM_PETSC(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

/// Chooses PETSc's Cholesky factors of `matrix` as preconditioner on one rank; symmetric Gauss-Seidel sweeps on several
/// ranks, and for large matrices, whose factors would need too much memory.
void choose_preconditioner(KSP ksp, Mat matrix) {
  PC preconditioner = nullptr;
  PetscInt size = 0;
  DIFFSIM_PETSC(KSPGetPC(ksp, &preconditioner));
  DIFFSIM_PETSC(MatGetSize(matrix, &size, nullptr));
  const bool is_alone = num_ranks(PetscObjectComm(reinterpret_cast<PetscObject>(ksp))) == 1;
  DIFFSIM_PETSC(
      PCSetType(preconditioner, is_alone && size <= 300000 ? PCCHOLESKY : PCSOR));  // symmetric sweeps by default
}

}  // namespace

FieldSolver::FieldSolver(const ValueGradient& gradient, double kappa2, const char* prefix,
                         const std::vector<int>& fixed)
    : gradient_(&gradient), kappa2_(kappa2) {
  const auto size = static_cast<PetscInt>(gradient.size());
  // The first pass determines the sparsity pattern.
  PetscHandle<Mat, MatDestroy> pattern;
  for (const auto& [matrix, type] : {std::pair(&pattern, MATPREALLOCATOR), {&matrix_, MATAIJ}}) {
    DIFFSIM_PETSC(MatCreate(gradient.comm(), matrix->out()));
    DIFFSIM_PETSC(MatSetType(*matrix, type));
    DIFFSIM_PETSC(MatSetSizes(*matrix, size, size, PETSC_DETERMINE, PETSC_DETERMINE));
    if (matrix == &pattern)
      DIFFSIM_PETSC(MatSetUp(*matrix));
    else
      DIFFSIM_PETSC(MatPreallocatorPreallocate(pattern, PETSC_TRUE, *matrix));
    add_entries(gradient, kappa2, *matrix);
  }
  PetscInt begin = 0;
  DIFFSIM_PETSC(MatGetOwnershipRange(matrix_, &begin, nullptr));
  std::vector<PetscInt> rows;
  for (const int i : fixed) rows.push_back(begin + i);
  DIFFSIM_PETSC(MatZeroRowsColumns(matrix_, static_cast<PetscInt>(rows.size()), rows.data(), 1.0, nullptr, nullptr));
  DIFFSIM_PETSC(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE));
  DIFFSIM_PETSC(KSPCreate(gradient.comm(), ksp_.out()));
  DIFFSIM_PETSC(KSPSetOptionsPrefix(ksp_, prefix));
  if (gradient.width() == 0) {
    DIFFSIM_PETSC(MatCreateShell(gradient.comm(), size, size, PETSC_DETERMINE, PETSC_DETERMINE, this, operator_.out()));
    DIFFSIM_PETSC(MatShellSetOperation(operator_, MATOP_MULT, reinterpret_cast<void (*)(void)>(multiply)));
  }
  DIFFSIM_PETSC(KSPSetOperators(ksp_, operator_ ? operator_ : matrix_, matrix_));
  DIFFSIM_PETSC(KSPSetType(ksp_, KSPCG));
  DIFFSIM_PETSC(KSPSetTolerances(ksp_, 1e-10, 1e-300, PETSC_DEFAULT, 10000));
  choose_preconditioner(ksp_, matrix_);
  DIFFSIM_PETSC(KSPSetFromOptions(ksp_));
}

PetscErrorCode FieldSolver::multiply(Mat matrix, Vec x, Vec product) {
  void* pointer = nullptr;
  if (const PetscErrorCode code = MatShellGetContext(matrix, &pointer)) return code;
  const auto& solver = *static_cast<const FieldSolver*>(pointer);
  try {
    const std::vector<double> values = values_of(x);
    std::vector<double> result = solver.gradient_->stiffness_times(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      result[i] += solver.kappa2_ * solver.gradient_->lumped()[i] * values[i];
    set_values(product, result);
  } catch (const std::exception&) {  // exceptions cannot propagate through PETSc's C code
    return PETSC_ERR_USER;
  }
  return 0;
}

std::vector<double> FieldSolver::solve(const std::vector<double>& b) const {
  MPI_Comm comm = MPI_COMM_NULL;
  DIFFSIM_PETSC(PetscObjectGetComm(reinterpret_cast<PetscObject>(static_cast<KSP>(ksp_)), &comm));
  const VecHandle right = make_vec(comm, b), x = make_vec(comm, std::vector<double>(b.size(), 0.0));
  DIFFSIM_PETSC(KSPSolve(ksp_, right, x));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  DIFFSIM_PETSC(KSPGetConvergedReason(ksp_, &reason));
  if (reason < 0)
    throw Error(std::string("the linear system of a Matérn prior or of a filter was not solved: ") +
                    KSPConvergedReasons[reason],
                ErrorKind::run);
  return values_of(x);
}

}  // namespace diffsim::inverse
