// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Multigrid whose levels smooth in single precision, compared with PETSc's smoother.

#include "dynamics/linear/single_smoother.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>

#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/linear/vec_testing.hpp"

namespace diffsim::dynamics::single_smoother_test {
namespace {

using testing_dynamics::relative_distance;
using MatHandle = PetscHandle<Mat, MatDestroy>;
using VecHandle = PetscHandle<Vec, VecDestroy>;
using KspHandle = PetscHandle<KSP, KSPDestroy>;

constexpr PetscInt edge = 9, vertices = edge * edge * edge;

/// Returns the stiffness matrix of springs between each vertex of a grid and its 18 nearest neighbours. Each spring is
/// stiffest along its axis, and a soft spring connects each vertex to the ground.
Mat make_matrix(double stiffness) {
  Mat matrix = nullptr;
  MatCreate(MPI_COMM_WORLD, &matrix);
  MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, 3 * vertices, 3 * vertices);
  MatSetBlockSize(matrix, 3);
  MatSetType(matrix, MATAIJ);
  MatSetUp(matrix);
  MatSetOption(matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  PetscInt begin = 0, end = 0;
  MatGetOwnershipRange(matrix, &begin, &end);
  for (PetscInt v = begin / 3; v < end / 3; ++v) {
    const PetscInt at[3] = {v % edge, v / edge % edge, v / edge / edge};
    double sum[3][3] = {{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}};
    const auto set = [&](PetscInt w, const double(&block)[3][3], double sign) {
      for (PetscInt r = 0; r < 3; ++r)
        for (PetscInt c = 0; c < 3; ++c)
          MatSetValue(matrix, 3 * v + r, 3 * w + c, sign * stiffness * block[r][c], INSERT_VALUES);
    };
    for (int d = 0; d < 27; ++d) {
      const int step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
      const int length = step[0] * step[0] + step[1] * step[1] + step[2] * step[2];
      PetscInt to[3];
      bool inside = length == 1 || length == 2;
      for (int i = 0; i < 3; ++i) {
        to[i] = at[i] + step[i];
        inside = inside && to[i] >= 0 && to[i] < edge;
      }
      if (!inside) continue;
      double block[3][3];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          block[r][c] = step[r] * step[c] / static_cast<double>(length) + (r == c ? 0.2 : 0.0);
          sum[r][c] += block[r][c];
        }
      set(to[0] + edge * (to[1] + edge * to[2]), block, -1.0);
    }
    set(v, sum, 1.0);
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  Mat own = nullptr;
  PetscBool parallel = PETSC_FALSE;
  PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIAIJ, &parallel);
  if (parallel) {
    MatMPIAIJGetSeqAIJ(matrix, &own, nullptr, nullptr);
    MatSetBlockSize(own, 3);
  }
  return matrix;
}

void fill(Vec x, double size, double seed) {
  PetscInt begin = 0, end = 0;
  VecGetOwnershipRange(x, &begin, &end);
  for (PetscInt i = begin; i < end; ++i)
    VecSetValue(x, i, size * std::sin(seed * static_cast<double>(i + 1)), INSERT_VALUES);
  VecAssemblyBegin(x);
  VecAssemblyEnd(x);
}

KspHandle make_solver(Mat matrix, bool single) {
  KspHandle ksp;
  PC pc = nullptr;
  KSPCreate(MPI_COMM_WORLD, ksp.out());
  KSPSetType(ksp, KSPCG);
  KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
  KSPSetOperators(ksp, matrix, matrix);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCGAMG);
  KSPSetTolerances(ksp, 1e-10, 1e-300, 1e10, 200);
  KSPSetUp(ksp);
  if (single) {
    EXPECT_TRUE(smooth_in_single_precision(pc));
    EXPECT_TRUE(smooth_in_single_precision(pc));
    EXPECT_NE(finest_operator(pc), nullptr);
  } else {
    EXPECT_EQ(finest_operator(pc), nullptr);
  }
  return ksp;
}

PC pc_of(KSP ksp) {
  PC pc = nullptr;
  KSPGetPC(ksp, &pc);
  return pc;
}

int solve(KSP ksp, Vec b, Vec x) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  PetscReal norm = 0.0;
  VecNorm(b, NORM_2, &norm);
  set_smoothed_norm(pc_of(ksp), norm);
  KSPSolve(ksp, b, x);
  KSPGetConvergedReason(ksp, &reason);
  KSPGetIterationNumber(ksp, &iterations);
  EXPECT_GT(reason, 0);
  return static_cast<int>(iterations);
}

// Includes forces and stiffnesses far outside the range of single precision.
TEST(SingleSmoother, serves_as_well_as_full_precision) {
  for (const auto& [stiffness, force] : {std::pair{1.0, 1.0}, {1e60, 1.0}, {1e-25, 1e-50}}) {
    const MatHandle matrix(make_matrix(stiffness));
    const KspHandle full = make_solver(matrix, false), single = make_solver(matrix, true);
    VecHandle b, x, y;
    MatCreateVecs(matrix, x.out(), b.out());
    VecDuplicate(x, y.out());
    fill(b, force, 0.7);
    const int iterations = solve(full, b, x);
    EXPECT_NEAR(solve(single, b, y), iterations, 2);
    EXPECT_LE(relative_distance(y, x), 1e-8);
  }
}

TEST(SingleSmoother, is_symmetric) {
  const MatHandle matrix(make_matrix(1.0));
  const KspHandle single = make_solver(matrix, true);
  VecHandle a, b, c, d;
  MatCreateVecs(matrix, a.out(), b.out());
  VecDuplicate(a, c.out());
  VecDuplicate(a, d.out());
  fill(a, 1.0, 0.7);
  fill(b, 1.0, 0.3);
  PCApply(pc_of(single), a, c);
  PCApply(pc_of(single), b, d);
  double one = 0.0, other = 0.0, norm = 0.0;
  VecDot(b, c, &one);
  VecDot(a, d, &other);
  VecDot(a, c, &norm);
  EXPECT_GT(norm, 0.0);
  EXPECT_NEAR(one, other, 1e-6 * norm);
}

TEST(SingleSmoother, takes_new_values_and_is_made_again) {
  const MatHandle matrix(make_matrix(1.0));
  const KspHandle single = make_solver(matrix, true);
  PC pc = pc_of(single);
  VecHandle b, x, y;
  MatCreateVecs(matrix, x.out(), b.out());
  VecDuplicate(x, y.out());
  fill(b, 1.0, 0.7);
  MatScale(matrix, 2.0);
  update_finest_level(pc, matrix, false);
  MatMult(finest_operator(pc), b, x);
  MatMult(matrix, b, y);
  EXPECT_LE(relative_distance(x, y), 1e-6);
  // A new set-up restores PETSc's smoothers.
  KSPSetOperators(single, matrix, matrix);
  KSPSetUp(single);
  EXPECT_EQ(finest_operator(pc), nullptr);
  EXPECT_TRUE(smooth_in_single_precision(pc));
  const KspHandle full = make_solver(matrix, false);
  EXPECT_NEAR(solve(single, b, x), solve(full, b, y), 2);
}

/// Adds barriers k w_a w_b n nᵀ between four distant vertices each, as for a point and a triangle, with the weights w.
void add_barriers(Mat matrix, double k) {
  const PetscInt vertex[4] = {1, vertices / 3, vertices / 2, vertices - 2};
  const double weight[4] = {1.0, -0.3, -0.3, -0.4};
  MatSetOption(matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  PetscInt begin = 0, end = 0;
  MatGetOwnershipRange(matrix, &begin, &end);
  for (PetscInt pair = 0; pair < 30; ++pair)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        for (PetscInt r = 0; r < 3; ++r)
          for (PetscInt c = 0; c < 3; ++c) {
            const PetscInt row = 3 * ((vertex[a] + 17 * pair) % vertices) + r;
            const PetscInt column = 3 * ((vertex[b] + 17 * pair) % vertices) + c;
            const double n[3] = {std::sin(1.0 + pair), std::sin(2.0 + 3.0 * pair), 0.3};
            if (row >= begin && row < end)
              MatSetValue(matrix, row, column, k * weight[a] * weight[b] * n[r] * n[c], ADD_VALUES);
          }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
}

// A barrier that appears after the preconditioner was set up, and a barrier whose eigenvalue is underestimated by ten
// iterations from a random vector.
TEST(SingleSmoother, stays_definite_under_barriers_with_their_diagonal_and_bound) {
  for (const double later : {1.0, 10.0, 100.0}) {
    const MatHandle matrix(make_matrix(1.0));
    add_barriers(matrix, 1e-3);
    KspHandle ksp;
    PC pc = nullptr;
    KSPCreate(MPI_COMM_WORLD, ksp.out());
    KSPSetType(ksp, KSPCG);
    KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED);
    KSPSetOperators(ksp, matrix, matrix);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCGAMG);
    KSPSetTolerances(ksp, 1e-10, 1e-300, 1e10, 200);
    KSPSetReusePreconditioner(ksp, PETSC_TRUE);
    KSPSetUp(ksp);
    EXPECT_TRUE(smooth_in_single_precision(pc, 4.0));
    add_barriers(matrix, later);
    update_finest_level(pc, matrix, true);
    VecHandle b, x;
    MatCreateVecs(matrix, x.out(), b.out());
    fill(b, 1.0, 0.7);
    EXPECT_LE(solve(ksp, b, x), 40) << later;
  }
}

TEST(SingleSmoother, leaves_what_options_choose) {
  for (const char* option : {"-diffsim_single_smoother", "-mg_levels_pc_type"}) {
    const MatHandle matrix(make_matrix(1.0));
    const KspHandle full = make_solver(matrix, false);
    PetscOptionsSetValue(nullptr, option, option[1] == 'd' ? "0" : "jacobi");
    EXPECT_FALSE(smooth_in_single_precision(pc_of(full)));
    EXPECT_EQ(finest_operator(pc_of(full)), nullptr);
    PetscOptionsClearValue(nullptr, option);
  }
}

}  // namespace
}  // namespace diffsim::dynamics::single_smoother_test
