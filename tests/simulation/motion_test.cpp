// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Prescribed rigid motions with every integrator: positions and velocities of the vertices, and derivatives through the
// motions.

#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::motion_test {
namespace {

using testing_simulation::expect_checked;

constexpr int num_steps = 4;
constexpr double dt = 0.01;
constexpr double rate = 2.0;

/// Scene of a viscous bar fixed at one end. A region rotates about the bar's axis and moves with a velocity that
/// changes in each step. The region is the other end, or `upper`, of which every rank has vertices.
DifferentiableScene make_solver(const std::string& integrator, const std::string& region = "x_max",
                                MPI_Comm comm = MPI_COMM_WORLD) {
  auto mesh = TetrahedralMesh::box(comm, {1.0, 0.3, 0.2}, {4, 1, 1});
  DifferentiableMaterial material{"neo_hookean",
                                  {{"youngs_modulus", 2e4},
                                   {"poisson_ratio", 0.35},
                                   {"density", 900.0},
                                   {"viscosity", 20.0},
                                   {"bulk_viscosity", 0.0}},
                                  "all"};
  DifferentiableSolver options{.dt = dt,
                               .substeps = 4,
                               .damping = 0.995,
                               .gravity = {0.0, -9.8, 0.0},
                               .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-12;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> velocity;
  for (int n = 0; n < num_steps; ++n) velocity.insert(velocity.end(), {0.5, -0.2 * n, 0.1});
  mesh->define_region("upper", BoxShape{{0.2, 0.19, -1.0}, {2.0, 1.0, 1.0}});
  solver.move(region, {2.0, 0.0, 0.0}, {1.0, 0.15, 0.1}, {rate}, velocity);
  return solver;
}

class MotionByIntegrator : public testing::TestWithParam<const char*> {};

TEST_P(MotionByIntegrator, takes_vertices_where_it_should) {
  DifferentiableScene solver = make_solver(GetParam());
  State state = solver.initial_state();
  solver.model().prepare();
  for (int n = 0; n < num_steps; ++n) solver.step(n, state);
  const TetrahedralMesh& mesh = *solver.mesh();
  const std::vector<double> x = state["positions"].to_host(), v = state["velocities"].to_host();
  const double angle = rate * num_steps * dt, c = std::cos(angle), s = std::sin(angle);
  for (const int vertex : mesh.region("x_max").vertices) {
    if (vertex >= mesh.num_owned_vertices()) break;
    const std::size_t i = 3 * static_cast<std::size_t>(vertex);
    const double y = mesh.rest_positions()[i + 1] - 0.15, z = mesh.rest_positions()[i + 2] - 0.1;
    const double turned_y = c * y - s * z, turned_z = s * y + c * z;
    EXPECT_NEAR(x[i], 1.0 + 0.5 * num_steps * dt, 1e-14);
    EXPECT_NEAR(x[i + 1], 0.15 - 0.2 * dt * (1 + 2 + 3) + turned_y, 1e-14);
    EXPECT_NEAR(x[i + 2], 0.1 + 0.1 * num_steps * dt + turned_z, 1e-14);
    EXPECT_NEAR(v[i], 0.5, 1e-14);
    EXPECT_NEAR(v[i + 1], -0.6 - rate * turned_z, 1e-14);
    EXPECT_NEAR(v[i + 2], 0.1 + rate * turned_y, 1e-14);
  }
}

/// A linear body takes one iteration of Newton's method per step if the first iteration includes the whole of J times
/// the motion.
TEST(motion, of_a_linear_body_takes_one_iteration_a_step) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {4, 1, 1});
  const DifferentiableMaterial material{
      "linear_elastic", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableSolver options{.dt = dt, .gravity = {0.0, -9.8, 0.0}, .integrator = Integrator::implicit_euler};
  options.implicit.newton.tolerance = 1e-8;
  options.implicit.newton.linear_tolerance = 1e-12;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  // Every rank has moving vertices.
  mesh->define_region("upper", BoxShape{{0.2, 0.19, -1.0}, {2.0, 1.0, 1.0}});
  solver.move("upper", {2.0, 0.0, 0.0}, {1.0, 0.15, 0.1}, {rate}, {0.5, -0.2, 0.1});
  State state = solver.initial_state();
  solver.model().prepare();
  for (int n = 0; n < num_steps; ++n) solver.step(n, state);
  EXPECT_EQ(dynamic_cast<const ImplicitModel&>(solver.model()).statistics().newton_iterations, num_steps);
}

TEST_P(MotionByIntegrator, has_derivatives) {
  DifferentiableScene solver = make_solver(GetParam(), "upper");
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("z_max"),
                                                std::array<double, 3>{0.9, 0.2, 0.1}, num_steps));
  std::vector<Unknown> unknowns;
  for (const char* name : {"angular_velocity:upper", "velocity:upper", "youngs_modulus", "initial_positions"}) {
    Unknown unknown;
    unknown.parameter = name;
    unknown.logarithmic = std::string(name) == "youngs_modulus";
    unknowns.push_back(unknown);
  }
  MemoryStore store;
  const auto schedule = [](int n) { return std::make_unique<AllSchedule>(n); };
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns, schedule, store);
  expect_checked(problem);
}

TEST(motion, refuses_vertices_that_are_held_otherwise) {
  DifferentiableScene solver = make_solver("implicit_euler");
  EXPECT_THROW(solver.move("x_min", {0, 0, 1}, {0, 0, 0}, {0.0}, {1, 0, 0}), Error);
  EXPECT_THROW(solver.move("x_max", {0, 0, 1}, {0, 0, 0}, {0.0}, {1, 0, 0}), Error);
}

INSTANTIATE_TEST_SUITE_P(motion, MotionByIntegrator,
                         testing::Values("symplectic_euler", "quasi_static", "implicit_euler", "bdf2", "newmark",
                                         "generalised_alpha", "explicit_euler", "velocity_verlet", "runge_kutta_2",
                                         "runge_kutta_4"));

}  // namespace
}  // namespace diffsim::motion_test
