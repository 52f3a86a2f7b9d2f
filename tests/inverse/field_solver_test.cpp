// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/field_solver.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::field_solver_test {
namespace {

using inverse::FieldSolver;
using Numbers = std::vector<double>;

constexpr double kappa2 = 30.0;

Numbers noise(std::size_t size) {
  Numbers result(size);
  for (std::size_t i = 0; i < size; ++i)
    result[i] = std::sin(1.0 + 1.7 * static_cast<double>(i) + rank_of(MPI_COMM_WORLD));
  return result;
}

/// Expects κ² M x + K x = b, with x = 0 at the indices `fixed`, where the equations do not hold.
void expect_solution(const ValueGradient& gradient, const Numbers& x, const Numbers& b,
                     const std::vector<int>& fixed = {}) {
  ASSERT_EQ(x.size(), b.size());
  const Numbers product = gradient.stiffness_times(x);
  double scale = 0.0;
  for (const double value : b) scale = std::max(scale, std::abs(value));
  MPI_Allreduce(MPI_IN_PLACE, &scale, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::count(fixed.begin(), fixed.end(), static_cast<int>(i)) > 0)
      EXPECT_EQ(x[i], 0.0) << i;
    else
      EXPECT_NEAR(product[i] + kappa2 * gradient.lumped()[i] * x[i], b[i], 1e-6 * scale) << i;
  }
}

std::shared_ptr<TetrahedralMesh> box() { return TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.7, 0.4}, {4, 3, 2}); }

// A has the entries κ² dt + (1 or 2)/dt on the diagonal and -1/dt beside the diagonal.
TEST(field_solver, solves_the_tridiagonal_system_of_a_signal) {
  constexpr int steps = 7;
  constexpr double dt = 0.1;
  const ValueGradient gradient = ValueGradient::of_steps(MPI_COMM_WORLD, steps, 1, dt);
  const Numbers b = noise(gradient.size());
  const Numbers x = FieldSolver(gradient, kappa2, "field_test_").solve(b);
  ASSERT_EQ(x.size(), is_first_rank(MPI_COMM_WORLD) ? std::size_t{steps} : 0u);
  if (x.empty()) return;
  // Gaussian elimination without pivoting.
  Numbers diagonal(steps, kappa2 * dt + 2.0 / dt), y = b;
  diagonal.front() = diagonal.back() = kappa2 * dt + 1.0 / dt;
  for (std::size_t i = 1; i < steps; ++i) {
    const double factor = -1.0 / dt / diagonal[i - 1];
    diagonal[i] += factor / dt;
    y[i] -= factor * y[i - 1];
  }
  for (std::size_t i = steps; i-- > 0;) {
    if (i + 1 < steps) y[i] += y[i + 1] / dt;
    y[i] /= diagonal[i];
    EXPECT_NEAR(x[i], y[i], 1e-9) << i;
  }
}

TEST(field_solver, solves_systems_on_cells_and_vertices) {
  const auto mesh = box();
  for (const ValueGradient& gradient :
       {ValueGradient::of_cells(*mesh), ValueGradient::across_faces(*mesh), ValueGradient::of_vertices(*mesh, 2)}) {
    const Numbers b = noise(gradient.size());
    expect_solution(gradient, FieldSolver(gradient, kappa2, "field_test_").solve(b), b);
    PetscOptionsSetValue(nullptr, "-field_test_pc_type", "sor");
    const FieldSolver by_sweeps(gradient, kappa2, "field_test_");
    PetscOptionsClearValue(nullptr, "-field_test_pc_type");
    expect_solution(gradient, by_sweeps.solve(b), b);
  }
}

// κ² M x = b for a constant x, because K x = 0.
TEST(field_solver, keeps_constants) {
  const auto mesh = box();
  const ValueGradient gradient = ValueGradient::of_cells(*mesh);
  Numbers b = gradient.lumped();
  for (double& value : b) value *= 3.0 * kappa2;
  for (const double x : FieldSolver(gradient, kappa2, "field_test_").solve(b)) EXPECT_NEAR(x, 3.0, 1e-6);
}

TEST(field_solver, leaves_fixed_values_at_zero) {
  const auto mesh = box();
  const ValueGradient gradient = ValueGradient::of_vertices(*mesh, 1);
  std::vector<int> fixed;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    if (mesh->rest_positions()[3 * static_cast<std::size_t>(v)] == 0.0) fixed.push_back(v);
  EXPECT_EQ(sum_over_ranks(static_cast<std::int64_t>(fixed.size()), MPI_COMM_WORLD), 4 * 3);
  Numbers b = noise(gradient.size());
  for (const int v : fixed) b[static_cast<std::size_t>(v)] = 0.0;
  expect_solution(gradient, FieldSolver(gradient, kappa2, "field_test_", fixed).solve(b), b, fixed);
}

TEST(field_solver, throws_if_the_iteration_does_not_converge) {
  const auto mesh = box();
  const ValueGradient gradient = ValueGradient::of_vertices(*mesh, 1);
  PetscOptionsSetValue(nullptr, "-field_test_ksp_max_it", "2");
  PetscOptionsSetValue(nullptr, "-field_test_pc_type", "sor");
  const FieldSolver solver(gradient, 1e-3, "field_test_");
  PetscOptionsClearValue(nullptr, "-field_test_ksp_max_it");
  PetscOptionsClearValue(nullptr, "-field_test_pc_type");
  try {
    solver.solve(noise(gradient.size()));
    ADD_FAILURE() << "solved";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
    EXPECT_NE(std::string(error.what()).find("was not solved: DIVERGED_ITS"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace diffsim::field_solver_test
