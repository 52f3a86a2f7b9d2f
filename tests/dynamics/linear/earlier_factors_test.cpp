// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Linear systems that are solved with the factors of an earlier matrix as preconditioner.

#include "dynamics/linear/earlier_factors.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <petsclog.h>

#include <cmath>
#include <limits>

#include "core/petsc_handle.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/linear/vec_testing.hpp"
#include "dynamics/time/implicit_model.hpp"

namespace diffsim::dynamics::earlier_factors_test {
namespace {

using testing_dynamics::relative_distance;
using MatHandle = PetscHandle<Mat, MatDestroy>;
using VecHandle = PetscHandle<Vec, VecDestroy>;
using KspHandle = PetscHandle<KSP, KSPDestroy>;

constexpr PetscInt size = 40;

/// Returns the tridiagonal matrix with the diagonal 2 + `spring` (1 + sin i) in row i, -1 - `flow` below and
/// -1 + `flow` above the diagonal.
MatHandle make_matrix(double spring, double flow) {
  MatHandle matrix;
  MatCreateAIJ(MPI_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, size, size, 3, nullptr, 2, nullptr, matrix.out());
  PetscInt begin = 0, end = 0;
  MatGetOwnershipRange(matrix, &begin, &end);
  for (PetscInt i = begin; i < end; ++i) {
    MatSetValue(matrix, i, i, 2.0 + spring * (1.0 + std::sin(static_cast<double>(i))), INSERT_VALUES);
    if (i > 0) MatSetValue(matrix, i, i - 1, -1.0 - flow, INSERT_VALUES);
    if (i + 1 < size) MatSetValue(matrix, i, i + 1, -1.0 + flow, INSERT_VALUES);
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  return matrix;
}

/// Factors of a matrix, and solutions of systems with another matrix.
class Pair {
 public:
  Pair(MatHandle factored, MatHandle matrix) : factored_(std::move(factored)), matrix_(std::move(matrix)) {
    KSPCreate(MPI_COMM_WORLD, ksp_.out());
    KSPSetType(ksp_, KSPPREONLY);
    KSPSetOperators(ksp_, factored_, factored_);
    KSPGetPC(ksp_, &pc_);
    PCSetType(pc_, PCLU);
    PCFactorSetMatSolverType(pc_, MATSOLVERMUMPS);
    KSPSetUp(ksp_);
    MatCreateVecs(matrix_, x_.out(), b_.out());
    VecDuplicate(x_, exact_.out());
    PetscInt begin = 0, end = 0;
    VecGetOwnershipRange(exact_, &begin, &end);
    for (PetscInt i = begin; i < end; ++i)
      VecSetValue(exact_, i, std::cos(3.0 * static_cast<double>(i)), INSERT_VALUES);
    VecAssemblyBegin(exact_);
    VecAssemblyEnd(exact_);
  }
  /// Solves to the relative residual `tolerance`, and sets `error` to the relative error of the solution.
  EarlierFactors::Outcome solve(EarlierFactors& earlier, double tolerance, bool symmetric, bool transposed,
                                double& error) {
    transposed ? MatMultTranspose(matrix_, exact_, b_) : MatMult(matrix_, exact_, b_);
    const EarlierFactors::Outcome outcome =
        earlier.solve(pc_, matrix_, matrix_, b_, x_, tolerance, symmetric, transposed);
    error = relative_distance(x_, exact_);
    return outcome;
  }

 private:
  MatHandle factored_, matrix_;
  KspHandle ksp_;
  PC pc_ = nullptr;
  VecHandle b_, x_, exact_;
};

EarlierFactors ready() {
  EarlierFactors earlier;
  earlier.record_factors(true);
  earlier.begin_matrix();
  return earlier;
}

TEST(earlier_factors, solve_systems_with_a_matrix_that_differs_little) {
  for (const bool symmetric : {true, false})
    for (const bool transposed : {false, true}) {
      const double flow = symmetric ? 0.0 : 0.3;
      Pair pair(make_matrix(0.5, flow), make_matrix(0.51, flow));
      EarlierFactors earlier = ready();
      double error = 0.0;
      const EarlierFactors::Outcome outcome = pair.solve(earlier, 1e-12, symmetric, transposed, error);
      EXPECT_TRUE(outcome.converged);
      EXPECT_GE(outcome.iterations, 3);
      EXPECT_LE(outcome.iterations, 8);
      EXPECT_LE(error, 1e-10);
    }
}

TEST(earlier_factors, end_where_a_factorisation_is_cheaper) {
  Pair pair(make_matrix(30.0, 0.0), make_matrix(0.001, 0.0));
  EarlierFactors earlier = ready();
  double error = 0.0;
  const EarlierFactors::Outcome outcome = pair.solve(earlier, 1e-12, true, false, error);
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.iterations, 3) << "the first iterations show that too many iterations are necessary";
  EXPECT_FALSE(earlier.may_serve()) << "the present matrix must be factored";
  earlier.begin_matrix();
  EXPECT_TRUE(earlier.may_serve()) << "later matrices may be closer";
}

TEST(earlier_factors, serve_a_limited_number_of_iterations_of_each_matrix) {
  Pair pair(make_matrix(0.5, 0.0), make_matrix(0.51, 0.0));
  EarlierFactors earlier;
  EXPECT_FALSE(earlier.may_serve()) << "nothing is factored";
  earlier.record_factors(true);
  EXPECT_FALSE(earlier.may_serve()) << "the factors are those of the present matrix";
  earlier.begin_matrix();
  double error = 0.0;
  int iterations = 0;
  while (earlier.may_serve()) iterations += pair.solve(earlier, 1e-12, true, false, error).iterations;
  EXPECT_EQ(iterations, EarlierFactors::most);
  earlier.begin_matrix();
  EXPECT_TRUE(earlier.may_serve());
  earlier.record_factors(false);  // of an indefinite matrix
  earlier.begin_matrix();
  EXPECT_FALSE(earlier.may_serve());
}

TEST(earlier_factors, expect_the_number_of_iterations_from_the_first) {
  EXPECT_DOUBLE_EQ(expected_iterations(3, 1e-3, 1e-12), 12.0);
  EXPECT_DOUBLE_EQ(expected_iterations(3, 1e-13, 1e-12), 3.0);
  EXPECT_EQ(expected_iterations(3, 1.0, 1e-12), std::numeric_limits<double>::infinity());
}

/// Returns the number of factorisations since the start of PETSc's log.
int count_factorisations() {
  int count = 0;
  for (const char* name : {"MatCholFctrNum", "MatLUFactorNum"}) {
    PetscLogEvent event = 0;
    PetscEventPerfInfo info{};
    PetscLogEventGetId(name, &event);
    PetscLogEventGetPerfInfo(0, event, &info);
    count += info.count;
  }
  return count;
}

TEST(earlier_factors, replace_most_factorisations_of_a_step_but_none_of_its_derivatives) {
  PetscLogDefaultBegin();
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.25, 0.25}, {8, 2, 2});
  for (const char* damping : {"drag", "viscosity"}) {  // with a symmetric and with an unsymmetric matrix
    DifferentiableMaterial rubber{
        "neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {damping, 30.0}}, "all"};
    DifferentiableSolver options{.dt = 0.05, .integrator = Integrator::implicit_euler};
    DifferentiableScene scene(mesh, {rubber}, options);
    scene.fix("x_min");
    TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, -0.1, 0.1}, 4);
    DifferentiableSimulator simulator(scene);
    simulator.require_gradient({"youngs_modulus"});
    const int before = count_factorisations();
    simulator.rollout(4, 0, loss);
    const int after = count_factorisations();
    const long iterations = dynamic_cast<const ImplicitModel&>(scene.model()).statistics().newton_iterations;
    EXPECT_GE(after - before, 4) << "each step factors its first matrix";
    EXPECT_LE(after - before, iterations / 2) << damping;
    simulator.backward();
    EXPECT_EQ(count_factorisations() - after, 4);
  }
}

}  // namespace
}  // namespace diffsim::dynamics::earlier_factors_test
