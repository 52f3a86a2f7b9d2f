// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Smoothers in single precision for PETSc's multigrid.

#include "dynamics/linear/single_smoother.hpp"

#include <cmath>
#include <memory>

#include "diffsim/core/error.hpp"
#include "dynamics/linear/block_product.hpp"
#include "dynamics/linear/single_level.hpp"
#include "dynamics/linear/solve_policy.hpp"

namespace diffsim::dynamics {
namespace {

PetscErrorCode destroy_level(void* level) {
  delete static_cast<SingleLevel*>(level);
  return 0;
}

PetscErrorCode multiply_level(Mat shell, Vec x, Vec y) {
  SingleLevel* level = nullptr;
  const PetscScalar* source = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, static_cast<void*>(&level)));
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(VecGetArrayWrite(y, &target));
  level->multiply(source, target);
  PetscCall(VecRestoreArrayWrite(y, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscFunctionReturn(0);
}

PetscErrorCode level_residual(Mat shell, Vec b, Vec x, Vec r) {
  SingleLevel* level = nullptr;
  const PetscScalar *right = nullptr, *source = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, static_cast<void*>(&level)));
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(VecGetArrayWrite(r, &target));
  level->residual(right, source, target);
  PetscCall(VecRestoreArrayWrite(r, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscFunctionReturn(0);
}

PetscErrorCode smooth_level(PC pc, Vec b, Vec x, bool from_zero, PetscInt steps) {
  SingleLevel* level = nullptr;
  const PetscScalar* right = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, static_cast<void*>(&level)));
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(VecGetArray(x, &target));
  level->smooth(right, target, from_zero, static_cast<int>(steps));
  PetscCall(VecRestoreArray(x, &target));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscFunctionReturn(0);
}
PetscErrorCode apply_once(PC pc, Vec b, Vec x) { return smooth_level(pc, b, x, true, 1); }
PetscErrorCode apply_steps(PC pc, Vec b, Vec x, Vec, PetscReal, PetscReal, PetscReal, PetscInt steps, PetscBool zero,
                           PetscInt* done, PCRichardsonConvergedReason* reason) {
  *done = steps;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  return smooth_level(pc, b, x, zero == PETSC_TRUE, steps);
}

bool same_function(void (*a)(), PetscErrorCode (*b)(Mat, Vec, Vec)) { return a == reinterpret_cast<void (*)()>(b); }

/// Returns the SingleLevel whose shell matrix is the operator of a smoother, or nullptr if the operator is another
/// matrix.
SingleLevel* level_of(KSP smoother) {
  Mat matrix = nullptr;
  PetscBool shell = PETSC_FALSE;
  void (*product)() = nullptr;
  DIFFSIM_PETSC(KSPGetOperators(smoother, &matrix, nullptr));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSHELL, &shell));
  if (!shell) return nullptr;
  DIFFSIM_PETSC(MatShellGetOperation(matrix, MATOP_MULT, &product));
  SingleLevel* level = nullptr;
  if (same_function(product, multiply_level)) DIFFSIM_PETSC(MatShellGetContext(matrix, static_cast<void*>(&level)));
  return level;
}

/// Returns the number of levels of a multigrid preconditioner; 0 for other preconditioners and before the set-up.
PetscInt levels_of(PC pc) {
  PetscBool multigrid = PETSC_FALSE;
  PetscInt levels = 0;
  DIFFSIM_PETSC(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &multigrid, PCMG, PCGAMG, ""));
  if (multigrid) DIFFSIM_PETSC(PCMGGetLevels(pc, &levels));
  return levels;
}

KSP smoother_of(PC pc, PetscInt level) {
  KSP smoother = nullptr;
  DIFFSIM_PETSC(PCMGGetSmoother(pc, level, &smoother));
  return smoother;
}

constexpr const char* level_key = "diffsim_level";

/// Makes `pc` apply the smoother of `level`. `shell` owns `level`; `pc` keeps a reference to `shell`.
void use_shell(PC pc, SingleLevel* level, Mat shell) {
  DIFFSIM_PETSC(PCSetType(pc, PCSHELL));
  DIFFSIM_PETSC(PCShellSetName(pc, "Chebyshev, in single precision"));
  DIFFSIM_PETSC(PetscObjectCompose(reinterpret_cast<PetscObject>(pc), level_key, reinterpret_cast<PetscObject>(shell)));
  DIFFSIM_PETSC(PCShellSetContext(pc, level));
  DIFFSIM_PETSC(PCShellSetApply(pc, apply_once));
  DIFFSIM_PETSC(PCShellSetApplyRichardson(pc, apply_steps));
}

/// Returns the largest eigenvalue of D⁻¹A as estimated by ten iterations of conjugate gradients, or 0 if the iterations
/// break down.
double largest_eigenvalue(Mat shell, SingleLevel* level) {
  PetscHandle<KSP, KSPDestroy> ksp;
  PetscHandle<Vec, VecDestroy> b, x;
  PC pc = nullptr;
  DIFFSIM_PETSC(MatCreateVecs(shell, x.out(), b.out()));
  PetscInt begin = 0, end = 0;
  PetscScalar* noise = nullptr;
  DIFFSIM_PETSC(VecGetOwnershipRange(b, &begin, &end));
  DIFFSIM_PETSC(VecGetArrayWrite(b, &noise));
  for (PetscInt i = begin; i < end; ++i) noise[i - begin] = std::fmod(std::sin(12.9898 * (i + 1.0)) * 43758.5453, 1.0);
  DIFFSIM_PETSC(VecRestoreArrayWrite(b, &noise));
  DIFFSIM_PETSC(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(shell)), ksp.out()));
  DIFFSIM_PETSC(KSPSetType(ksp, KSPCG));
  DIFFSIM_PETSC(KSPSetOperators(ksp, shell, shell));
  DIFFSIM_PETSC(KSPGetPC(ksp, &pc));
  use_shell(pc, level, shell);
  DIFFSIM_PETSC(KSPSetNormType(ksp, KSP_NORM_NONE));
  DIFFSIM_PETSC(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 10));
  DIFFSIM_PETSC(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  DIFFSIM_PETSC(KSPSolve(ksp, b, x));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscReal largest = 0.0, least = 0.0;
  DIFFSIM_PETSC(KSPGetConvergedReason(ksp, &reason));
  if (reason < 0 && reason != KSP_DIVERGED_ITS) return 0.0;
  DIFFSIM_PETSC(KSPComputeExtremeSingularValues(ksp, &largest, &least));
  return std::isfinite(largest) ? largest : 0.0;
}

/// Returns true if a level has GAMG's default smoother.
bool is_default(KSP smoother) {
  PC pc = nullptr;
  PetscObject of_level = nullptr;
  PetscBool jacobi = PETSC_FALSE, chebyshev = PETSC_FALSE;
  DIFFSIM_PETSC(KSPGetPC(smoother, &pc));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCJACOBI, &jacobi));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(smoother), KSPCHEBYSHEV, &chebyshev));
  DIFFSIM_PETSC(PetscObjectQuery(reinterpret_cast<PetscObject>(pc), level_key, &of_level));
  return jacobi && chebyshev && !of_level;
}

/// Restores GAMG's default smoother on a level that was set up again. The single-precision smoother and the residual
/// function of the level refer to the operator of the previous set-up.
void drop_old_smoother(PC pc, PetscInt level) {
  const KSP smoother = smoother_of(pc, level);
  PC smoother_pc = nullptr;
  PetscObject of_level = nullptr;
  Mat matrix = nullptr;
  DIFFSIM_PETSC(KSPGetPC(smoother, &smoother_pc));
  DIFFSIM_PETSC(PetscObjectQuery(reinterpret_cast<PetscObject>(smoother_pc), level_key, &of_level));
  if (!of_level || level_of(smoother)) return;
  DIFFSIM_PETSC(KSPGetOperators(smoother, &matrix, nullptr));
  DIFFSIM_PETSC(PetscObjectCompose(reinterpret_cast<PetscObject>(smoother_pc), level_key, nullptr));
  DIFFSIM_PETSC(PCSetType(smoother_pc, PCJACOBI));
  DIFFSIM_PETSC(KSPSetType(smoother, KSPCHEBYSHEV));
  DIFFSIM_PETSC(KSPChebyshevEstEigSet(smoother, 0.0, 0.1, 0.0, 1.1));
  DIFFSIM_PETSC(PCMGSetResidual(pc, level, PCMGResidualDefault, matrix));
}

bool options_choose() {
  PetscBool wanted = PETSC_TRUE;
  DIFFSIM_PETSC(PetscOptionsGetBool(nullptr, nullptr, "-diffsim_single_smoother", &wanted, nullptr));
  bool chosen = wanted == PETSC_FALSE;
  for (const char* name : {"-mg_levels_ksp_type", "-mg_levels_pc_type", "-mg_levels_ksp_chebyshev_esteig",
                           "-mg_levels_ksp_chebyshev_eigenvalues", "-mg_levels_esteig_ksp_type"}) {
    PetscBool has = PETSC_FALSE;
    DIFFSIM_PETSC(PetscOptionsHasName(nullptr, nullptr, name, &has));
    chosen = chosen || has;
  }
  return chosen;
}

}  // namespace

bool smooth_in_single_precision(PC pc, double least_bound) {
  const PetscInt levels = levels_of(pc);
  if (levels < 2) return false;
  for (PetscInt l = levels - 1; l > 0; --l) drop_old_smoother(pc, l);
  const KSP finest = smoother_of(pc, levels - 1);
  if (!is_default(finest) || options_choose()) return level_of(finest) != nullptr;
  for (PetscInt l = levels - 1; l > 0; --l) {
    const KSP smoother = smoother_of(pc, l);
    Mat matrix = nullptr, of_pc = nullptr, interpolation = nullptr;
    DIFFSIM_PETSC(KSPGetOperators(smoother, &matrix, &of_pc));
    DIFFSIM_PETSC(PCMGGetInterpolation(pc, l, &interpolation));
    const MatrixBlocks blocks = find_blocks(matrix);
    if (!is_default(smoother) || !blocks.own) continue;
    MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
    auto level = std::make_unique<SingleLevel>(matrix, blocks, l == levels - 1);
    if (!level->good(comm)) continue;
    PetscInt rows = 0, columns = 0, steps = 0;
    PetscHandle<Mat, MatDestroy> shell;
    SingleLevel* const context = level.get();
    DIFFSIM_PETSC(MatGetLocalSize(matrix, &rows, &columns));
    DIFFSIM_PETSC(MatCreateShell(comm, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, level.release(), shell.out()));
    DIFFSIM_PETSC(MatShellSetContextDestroy(shell, destroy_level));
    DIFFSIM_PETSC(MatShellSetOperation(shell, MATOP_MULT, reinterpret_cast<void (*)()>(multiply_level)));
    const double largest = largest_eigenvalue(shell, context);
    if (!(largest > 0.0)) continue;
    const SmootherBounds bounds = smoother_bounds(largest, l == levels - 1 ? least_bound : 0.0);
    context->set_bounds(bounds.lowest, bounds.highest);
    use_block_products(interpolation, Precision::single);
    PC smoother_pc = nullptr;
    DIFFSIM_PETSC(KSPGetTolerances(smoother, nullptr, nullptr, nullptr, &steps));
    DIFFSIM_PETSC(KSPSetType(smoother, KSPRICHARDSON));
    DIFFSIM_PETSC(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, steps));
    DIFFSIM_PETSC(KSPSetOperators(smoother, shell, of_pc));
    DIFFSIM_PETSC(KSPGetPC(smoother, &smoother_pc));
    use_shell(smoother_pc, context, shell);
    DIFFSIM_PETSC(PCMGSetResidual(pc, l, level_residual, shell));
  }
  return level_of(finest) != nullptr;
}

void update_finest_level(PC pc, Mat matrix, bool with_diagonal) {
  const PetscInt levels = levels_of(pc);
  SingleLevel* const level = levels > 1 ? level_of(smoother_of(pc, levels - 1)) : nullptr;
  if (!level) return;
  level->set_values(find_blocks(matrix));
  if (with_diagonal) level->renew_diagonal();
}

Mat finest_operator(PC pc) {
  const PetscInt levels = levels_of(pc);
  if (levels < 2 || !level_of(smoother_of(pc, levels - 1))) return nullptr;
  Mat matrix = nullptr;
  DIFFSIM_PETSC(KSPGetOperators(smoother_of(pc, levels - 1), &matrix, nullptr));
  return matrix;
}

void set_smoothed_norm(PC pc, double norm) {
  for (PetscInt l = levels_of(pc) - 1; l > 0; --l)
    if (SingleLevel* const level = level_of(smoother_of(pc, l))) level->set_norm(norm);
}

}  // namespace diffsim::dynamics
