// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/tao_hessian.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "adjoint/curved_derivatives.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/prior.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim::tao_hessian_test {
namespace {

using namespace testing_adjoint;
using namespace inverse;
using Numbers = std::vector<double>;
using MatHandle = PetscHandle<Mat, MatDestroy>;

constexpr int num_steps = 10;

/// Search for the rate and for the push of each point. The vector u is (rate, pushes) on the first rank and (pushes) on
/// other ranks.
struct Search {
  explicit Search(Loss& loss) : initial(model.make_state()) {
    initial["positions"].from_host(curved_start());
    const std::vector<Unknown> unknowns{{.parameter = "rate", .start = {0.8}}, {.parameter = "push", .start = {0.3}}};
    problem = std::make_unique<InverseProblem>(
        model, initial, num_steps, loss, unknowns, [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  }

  CurvedPoints model;
  State initial;
  MemoryStore store;
  std::unique_ptr<InverseProblem> problem;
};

/// Returns this rank's part of u for a rate and pushes.
Numbers joined(double rate, const std::array<double, 4>& push) {
  Numbers result(push.begin(), push.end());
  if (is_first_rank(MPI_COMM_WORLD)) result.insert(result.begin(), rate);
  return result;
}

void expect_near(const Numbers& found, const Numbers& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance * (1.0 + std::abs(expected[i]))) << i;
}

/// TAO object that has received the Hessian of a problem.
struct Solver {
  explicit Solver(InverseProblem& problem) : hessian(problem) {
    DIFFSIM_PETSC(TaoCreate(problem.comm(), tao.out()));
    DIFFSIM_PETSC(TaoSetType(tao, TAOBNTR));
    hessian.give_to(tao);
    DIFFSIM_PETSC(TaoGetHessian(tao, &matrix, nullptr, nullptr, nullptr));
    DIFFSIM_PETSC(TaoComputeHessian(tao, make_vec(problem.comm(), problem.start()), matrix, matrix));
  }
  /// Returns the matrix of the rows and columns with the local indices 0 and 2 on each rank.
  MatHandle submatrix() const {
    PetscHandle<IS, ISDestroy> rows;
    PetscInt begin = 0;
    DIFFSIM_PETSC(MatGetOwnershipRange(matrix, &begin, nullptr));
    const PetscInt indices[2] = {begin, begin + 2};
    DIFFSIM_PETSC(ISCreateGeneral(MPI_COMM_WORLD, 2, indices, PETSC_COPY_VALUES, rows.out()));
    MatHandle result;
    DIFFSIM_PETSC(MatCreateSubMatrix(matrix, rows, rows, MAT_INITIAL_MATRIX, result.out()));
    return result;
  }

  TaoHessian hessian;
  PetscHandle<Tao, TaoDestroy> tao;
  Mat matrix = nullptr;
};

TEST(tao_hessian, multiplies_with_the_hessian_at_the_requested_point) {
  CurvedLoss loss(num_steps);
  Search search(loss);
  Solver solver(*search.problem);
  const std::array<double, 4> d_push{0.3, -0.2, 0.5, 0.1};
  const CurvedDerivatives expected(num_steps, 0.7, d_push);
  const VecHandle v = make_vec(MPI_COMM_WORLD, joined(0.7, d_push)),
                  product = make_vec(MPI_COMM_WORLD, Numbers(search.problem->size(), 0.0));
  for (const auto multiply : {MatMult, MatMultTranspose}) {
    DIFFSIM_PETSC(multiply(solver.matrix, v, product));
    expect_near(values_of(product), joined(expected.hessian_rate, expected.hessian_push), 1e-11);
  }
  EXPECT_EQ(solver.hessian.products(), 2);
  search.problem->use_gauss_newton(true);
  DIFFSIM_PETSC(MatMult(solver.matrix, v, product));
  expect_near(values_of(product), joined(expected.gauss_newton_rate, expected.gauss_newton_push), 1e-11);
  EXPECT_NO_THROW(solver.hessian.rethrow());
}

// The entries 0 and 2 are the rate and the second push on the first rank, and the first and the third push elsewhere.
TEST(tao_hessian, has_submatrices) {
  CurvedLoss loss(num_steps);
  Search search(loss);
  Solver solver(*search.problem);
  const MatHandle part = solver.submatrix();
  std::array<double, 4> d_push{0.0, 0.5, 0.0, 0.0};
  if (!is_first_rank(MPI_COMM_WORLD)) d_push = {0.7, 0.0, 0.5, 0.0};
  const CurvedDerivatives expected(num_steps, 0.7, d_push);
  const VecHandle v = make_vec(MPI_COMM_WORLD, {0.7, 0.5}), product = make_vec(MPI_COMM_WORLD, Numbers(2, 0.0));
  DIFFSIM_PETSC(MatMult(part, v, product));
  const Numbers all = joined(expected.hessian_rate, expected.hessian_push);
  expect_near(values_of(product), {all[0], all[2]}, 1e-11);
}

TEST(tao_hessian, is_preconditioned_by_the_covariance_of_the_priors) {
  CurvedLoss loss(num_steps);
  Search search(loss);
  const std::array<double, 4> of_push{0.1, 0.2, 0.3, 0.4};
  const Numbers deviations = joined(0.5, of_push);
  const std::size_t shared = search.problem->count(0);  // 1 on the first rank, 0 elsewhere
  search.problem->add_prior(0, make_normal_prior(MPI_COMM_WORLD, Numbers(shared, 0.8), Numbers(shared, 0.5)));
  search.problem->add_prior(1, make_normal_prior(MPI_COMM_WORLD, Numbers(4, 0.3), {of_push.begin(), of_push.end()}));
  Solver solver(*search.problem);
  const MatHandle part = solver.submatrix();
  KSP ksp = nullptr;
  PC pc = nullptr;
  DIFFSIM_PETSC(TaoGetKSP(solver.tao, &ksp));
  DIFFSIM_PETSC(KSPGetPC(ksp, &pc));
  const Numbers v = joined(0.7, {0.3, -0.2, 0.5, 0.1});
  const auto preconditioned = [&](Mat matrix, const Numbers& values) {
    const VecHandle from = make_vec(MPI_COMM_WORLD, values), to = make_vec(MPI_COMM_WORLD, Numbers(values.size(), 0.0));
    DIFFSIM_PETSC(KSPReset(ksp));
    DIFFSIM_PETSC(PCSetOperators(pc, matrix, matrix));
    DIFFSIM_PETSC(PCApply(pc, from, to));
    return values_of(to);
  };
  Numbers expected = v;
  for (std::size_t i = 0; i < v.size(); ++i) expected[i] *= deviations[i] * deviations[i];
  expect_near(preconditioned(solver.matrix, v), expected, 1e-14);
  expect_near(preconditioned(part, {v[0], v[2]}), {expected[0], expected[2]}, 1e-14);
}

TEST(tao_hessian, rethrows_the_error_of_a_product) {
  EndLoss loss(num_steps);  // has no second derivatives
  Search search(loss);
  Solver solver(*search.problem);
  const VecHandle v = make_vec(MPI_COMM_WORLD, search.problem->start()),
                  product = make_vec(MPI_COMM_WORLD, values_of(v));
  EXPECT_NE(MatMult(solver.matrix, v, product), 0);
  EXPECT_EQ(solver.hessian.products(), 0);
  EXPECT_THROW(solver.hessian.rethrow(), Error);
}

}  // namespace
}  // namespace diffsim::tao_hessian_test
