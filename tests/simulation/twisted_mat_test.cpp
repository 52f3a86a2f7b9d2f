// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A thin mat twisted by both ends until it folds and touches itself, its linear systems solved by multigrid: barriers
// come up within a step, after its preconditioner was made.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "diffsim/dynamics/implicit_model.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim::twisted_mat_test {
namespace {

constexpr double turning = 0.4 * 3.14159265358979;  // rad/s, of each end

DifferentiableSolver make_mat() {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 0.02}, {11, 11, 1});
  const DifferentiableMaterial rubber{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.4}, {"density", 1000.0}}, "all"};
  SolverOptions options{.dt = 0.16, .gravity = {0.0, 0.0, 0.0}, .integrator = "implicit_euler"};
  options.implicit.linear.direct_below = 0;
  DifferentiableSolver solver(mesh, {rubber}, options);
  solver.move("x_min", {1.0, 0.0, 0.0}, {0.0, 0.5, 0.01}, {-turning}, {0.0, 0.0, 0.0});
  solver.move("x_max", {1.0, 0.0, 0.0}, {1.0, 0.5, 0.01}, {turning}, {0.0, 0.0, 0.0});
  ContactOptions contact;
  contact.barrier_distance = 1e-3;
  contact.barrier_stiffness = 2e5;
  contact.self = true;
  solver.add_contact(contact);
  solver.model().prepare();
  return solver;
}

// A step whose linear systems fail, or whose iterations are too many, is begun anew with half of its load: steps 9 and
// 10 took 439 iterations and five halvings where 50 iterations were the most and the smoother knew no barriers.
TEST(twisted_mat, is_solved_by_multigrid_without_halving_loads) {
  DifferentiableSolver solver = make_mat();
  State state = solver.initial_state();
  const auto& model = dynamic_cast<const ImplicitModel&>(solver.integrator());
  constexpr int steps = 11;
  for (int n = 0; n < steps; ++n) {
    const long before = model.statistics().newton_iterations;
    solver.step(n, state);
    EXPECT_LE(model.last_residuals().back(), 1e-10) << n;
    EXPECT_LE(model.statistics().newton_iterations - before, 90) << n;
  }
  const ImplicitStatistics& counts = model.statistics();
  EXPECT_EQ(counts.cuts, 0);
  EXPECT_GT(counts.projections, 30);   // it buckles
  EXPECT_GT(counts.obstructions, 10);  // and touches itself
  EXPECT_GT(counts.reductions, 10);
  EXPECT_LT(counts.newton_iterations, 300);
}

}  // namespace
}  // namespace diffsim::twisted_mat_test
