// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of whole implicit rollouts by every parameter: dot products and orders of convergence.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <tuple>

#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

constexpr int num_steps = 3;

/// `order` of the cells; 2 comes with viscosity and drag.
DifferentiableSolver make_solver(const std::string& integrator, const std::string& law, int order) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {order == 1 ? 4 : 2, 1, 1}, order);
  DifferentiableMaterial material{law, {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  if (order == 2)
    material.values.insert({{"viscosity", 60.0}, {"bulk_viscosity", 30.0}, {"rayleigh_damping", 3.0}, {"drag", 500.0}});
  SolverOptions options{.dt = 0.04, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator};
  options.implicit.newton.tolerance = 1e-12;
  options.implicit.ramp_steps = integrator == "quasi_static" ? num_steps : 0;
  DifferentiableSolver solver(mesh, {material}, options);
  solver.fix("x_min");
  solver.fix("z_min", {false, false, true});
  std::vector<double> pull;
  for (int n = 0; n < num_steps; ++n) pull.insert(pull.end(), {30.0 * n, -40.0, 20.0 * std::sin(n)});
  solver.add_traction("x_max", pull);
  solver.add_traction("y_max", {3.0, 4.0, -5.0});
  solver.add_nodal_load(std::vector<double>(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.02));
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(), {0.0, 0.5 * mesh->rest_positions()[3 * static_cast<std::size_t>(v)], 0.0});
  solver.set_initial_velocity(velocity);
  return solver;
}

class EveryIntegrator : public testing::TestWithParam<std::tuple<const char*, const char*, int>> {};

TEST_P(EveryIntegrator, derivatives_by_every_parameter) {
  const auto& [integrator, law, order] = GetParam();
  DifferentiableSolver solver = make_solver(integrator, law, order);
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("x_max"),
                                                std::array<double, 3>{0.9, 0.2, 0.1}, num_steps));
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("y_max"),
                                                std::array<double, 3>{0.4, 0.5, 0.1}, num_steps / 2),
           0.5);
  const bool is_static = std::string(integrator) == "quasi_static";
  // What many ranks could spoil is the halo's and the globals' part of the derivatives: dot products of three unknowns
  // show it. Orders of convergence are the same on all ranks.
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1 && order == 1) return;
  std::vector<const char*> names{"youngs_modulus", "gravity", "initial_positions"};
  if (ranks == 1 && order == 1)
    names = {"youngs_modulus", "poisson_ratio",  "density",           "gravity",           "nodal_load",
             "traction:x_max", "traction:y_max", "initial_positions", "initial_velocities"};
  if (ranks == 1 && order == 2)
    names = {"viscosity", "bulk_viscosity",     "rayleigh_damping", "drag",
             "density",   "initial_velocities", "rest_positions"};
  GradientCheckOptions options;
  if (ranks > 1) options.max_halvings = 0;
  std::vector<Unknown> unknowns;
  for (const char* name : names) {
    if (is_static && std::string(name) == "initial_velocities") continue;
    Unknown unknown;
    unknown.parameter = name;
    unknown.logarithmic = std::string(name) == "youngs_modulus" || std::string(name) == "density";
    unknowns.push_back(unknown);
  }
  MemoryStore store;
  const auto schedule = [](int n) { return std::make_unique<UniformSchedule>(n, 3); };
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns, schedule, store);
  for (const UnknownCheck& check : check_gradient(problem, problem.start(), options)) {
    EXPECT_LE(check.dot_product_error, 10.0 * solver.model().solver_tolerance()) << check.name;
    if (ranks > 1) continue;
    EXPECT_TRUE(check.passed) << check.name << (check.taylor_orders.empty() ? 0.0 : check.taylor_orders.back());
    if (std::getenv("DIFFSIM_VERBOSE")) {
      printf("%-24s %10.2e  eps %g linear %d orders", check.name.c_str(), check.dot_product_error, check.first_step,
             check.linear);
      for (double o : check.taylor_orders) printf(" %.4f", o);
      printf("\n");
    }
  }
}

const auto integrators = testing::Values("quasi_static", "implicit_euler", "bdf2", "newmark", "generalised_alpha");
INSTANTIATE_TEST_SUITE_P(tet4, EveryIntegrator,
                         testing::Combine(integrators, testing::Values("neo_hookean"), testing::Values(1)));
INSTANTIATE_TEST_SUITE_P(viscous_tet10, EveryIntegrator,
                         testing::Combine(integrators, testing::Values("stable_neo_hookean"), testing::Values(2)));

}  // namespace
}  // namespace diffsim
