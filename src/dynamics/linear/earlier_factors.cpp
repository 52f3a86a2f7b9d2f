// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/earlier_factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim::dynamics {
namespace {

constexpr int enough_to_judge = 3;  // iterations after which the number of iterations is estimated
constexpr double too_many = 2.0;    // largest estimate, relative to `most`; conjugate gradients become faster later

}  // namespace

double expected_iterations(int iteration, double ratio, double tolerance) {
  if (!(ratio < 1.0)) return std::numeric_limits<double>::infinity();
  if (ratio <= tolerance) return iteration;
  return iteration * std::log(tolerance) / std::log(ratio);
}

PetscErrorCode EarlierFactors::test(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason* reason,
                                    void* context) {
  PetscFunctionBegin;
  auto& self = *static_cast<EarlierFactors*>(context);
  PetscReal tolerance = 0.0;
  PetscCall(KSPGetTolerances(ksp, &tolerance, nullptr, nullptr, nullptr));
  if (iteration == 0) self.first_norm_ = norm;
  const double ratio = norm / self.first_norm_;
  *reason = KSP_CONVERGED_ITERATING;
  if (!std::isfinite(norm))
    *reason = KSP_DIVERGED_NANORINF;
  else if (ratio <= tolerance)
    *reason = KSP_CONVERGED_RTOL;
  else if (iteration == enough_to_judge && expected_iterations(enough_to_judge, ratio, tolerance) > too_many * most)
    *reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(0);
}

void EarlierFactors::configure(PC factors, bool symmetric) {
  if (!ksp_) {
    MPI_Comm comm = MPI_COMM_NULL;
    DIFFSIM_PETSC(PetscObjectGetComm(reinterpret_cast<PetscObject>(factors), &comm));
    DIFFSIM_PETSC(KSPCreate(comm, ksp_.out()));
    DIFFSIM_PETSC(KSPSetType(ksp_, symmetric ? KSPCG : KSPGMRES));
    if (!symmetric) DIFFSIM_PETSC(KSPSetPCSide(ksp_, PC_RIGHT));
    DIFFSIM_PETSC(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
  }
  DIFFSIM_PETSC(KSPSetConvergenceTest(ksp_, test, this, nullptr));
  DIFFSIM_PETSC(KSPSetPC(ksp_, factors));
}

EarlierFactors::Outcome EarlierFactors::solve(PC factors, Mat product, Mat matrix, Vec b, Vec x, double tolerance,
                                              bool symmetric, bool transposed) {
  const ProfilingRegion region("diffsim::dynamics::solve_by_earlier_factors");
  configure(factors, symmetric);
  DIFFSIM_PETSC(KSPSetReusePreconditioner(ksp_, PETSC_TRUE));
  DIFFSIM_PETSC(KSPSetOperators(ksp_, product, matrix));
  DIFFSIM_PETSC(KSPSetTolerances(ksp_, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, left_));
  DIFFSIM_PETSC(transposed && !symmetric ? KSPSolveTranspose(ksp_, b, x) : KSPSolve(ksp_, b, x));
  DIFFSIM_PETSC(PCSetReusePreconditioner(factors, PETSC_FALSE));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  DIFFSIM_PETSC(KSPGetConvergedReason(ksp_, &reason));
  DIFFSIM_PETSC(KSPGetIterationNumber(ksp_, &iterations));
  left_ = reason > 0 ? std::max(0, left_ - static_cast<int>(iterations)) : 0;
  return {reason > 0, static_cast<int>(iterations)};
}

}  // namespace diffsim::dynamics
