// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of whole rollouts by every parameter: dot products and orders of convergence.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

constexpr int num_steps = 10;

DifferentiableSolver make_solver(const std::string& law) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {5, 2, 2});
  DifferentiableMaterial material{law, {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableSolver solver(mesh, {material}, {.dt = 0.004, .substeps = 4, .damping = 0.995, .gravity = {0.5, -9.8, 1.0}});
  solver.fix("x_min");
  solver.fix("z_min", {false, false, true});
  std::vector<double> pull;
  for (int n = 0; n < num_steps; ++n) pull.insert(pull.end(), {30.0 * n, -40.0, 20.0 * std::sin(n)});
  solver.add_traction("x_max", pull);
  solver.add_nodal_load(std::vector<double>(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.02));
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(), {0.0, 0.5 * mesh->rest_positions()[3 * static_cast<std::size_t>(v)], 0.0});
  solver.set_initial_velocity(velocity);
  return solver;
}

class EveryLaw : public testing::TestWithParam<const char*> {};

TEST_P(EveryLaw, derivatives_by_every_parameter) {
  DifferentiableSolver solver = make_solver(GetParam());
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("x_max"),
                                                std::array<double, 3>{0.9, 0.2, 0.1}, num_steps));
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("y_max"),
                                                std::array<double, 3>{0.4, 0.5, 0.1}, num_steps / 2),
           0.5);
  std::vector<Unknown> unknowns;
  for (const char* name : {"youngs_modulus", "poisson_ratio", "density", "gravity", "damping", "nodal_load",
                           "traction:x_max", "initial_positions", "initial_velocities"}) {
    Unknown unknown;
    unknown.parameter = name;
    unknown.logarithmic = std::string(name) == "youngs_modulus" || std::string(name) == "density";
    unknowns.push_back(unknown);
  }
  Unknown global;
  global.parameter = "youngs_modulus";
  global.label = "global youngs_modulus";
  global.group.assign(static_cast<std::size_t>(solver.mesh()->num_cells()), 0);
  global.group_names = {""};
  MemoryStore store;
  const auto schedule = [](int n) { return std::make_unique<UniformSchedule>(n, 4); };
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns, schedule, store);
  for (const UnknownCheck& check : check_gradient(problem, problem.start())) {
    EXPECT_LE(check.dot_product_error, 1e-12) << check.name;
    EXPECT_TRUE(check.passed) << check.name << (check.taylor_orders.empty() ? 0.0 : check.taylor_orders.back());
    if (std::getenv("DIFFSIM_VERBOSE")) {
      printf("%-24s %10.2e  eps %g linear %d orders", check.name.c_str(), check.dot_product_error, check.first_step, check.linear);
      for (double o : check.taylor_orders) printf(" %.4f", o);
      printf("\n");
    }
  }
  InverseProblem by_one_number(solver.model(), solver.initial_state(), num_steps, loss, {global}, schedule, store);
  for (const UnknownCheck& check : check_gradient(by_one_number, by_one_number.start()))
    EXPECT_TRUE(check.passed) << check.name;
}

INSTANTIATE_TEST_SUITE_P(simulation, EveryLaw,
                         testing::Values("neo_hookean", "neo_hookean_quadratic", "stable_neo_hookean"));

}  // namespace
}  // namespace diffsim
