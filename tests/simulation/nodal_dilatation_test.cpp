// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Linear cells whose changes of volume are averaged around each vertex: derivatives of rollouts, and forces as
// derivatives of the energy.

#include <gtest/gtest.h>

#include <cmath>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::nodal_dilatation_test {
namespace {

using namespace testing_simulation;

DifferentiableScene make_solver(const std::string& model, std::map<std::string, CellValues> values) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.6, 0.3, 0.2}, {3, 1, 1});
  DifferentiableMaterial material{model, std::move(values), "all"};
  material.nodal_dilatation = true;
  DifferentiableScene solver(mesh, {material},
                             {.dt = 0.004, .substeps = 4, .damping = 0.995, .gravity = {0.5, -9.8, 1.0}});
  solver.fix("x_min");
  solver.add_traction("x_max", {30.0, -40.0, 20.0});
  std::vector<double> displacement, velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double x = mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    displacement.insert(displacement.end(), {0.2 * x, 0.1 * x * x, -0.05 * x});
    velocity.insert(velocity.end(), {0.0, 0.5 * x, 0.3 * x * x});
  }
  solver.set_initial_displacement(displacement);
  solver.set_initial_velocity(velocity);
  return solver;
}

const std::vector<Target> targets{{"x_max", {0.7, 0.1, 0.15}, 8}, {"all", {0.3, 0.2, 0.1}, 4, 0.5}};

TEST(nodal_dilatation, derivatives_by_every_parameter) {
  DifferentiableScene solver =
      make_solver("neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.45}, {"density", 900.0}});
  expect_derivatives(solver, 8, targets,
                     unknowns_of({"youngs_modulus", "poisson_ratio", "density", "rest_positions", "initial_positions"},
                                 {"youngs_modulus"}));
}

TEST(nodal_dilatation, derivatives_of_a_law_with_a_signal) {
  DifferentiableScene solver = make_solver("active_fibre", {{"youngs_modulus", 2e4},
                                                            {"poisson_ratio", 0.45},
                                                            {"active_tension", 2e3},
                                                            {"activation", 0.4},
                                                            {"fibre_x", 0.9},
                                                            {"fibre_y", 0.3},
                                                            {"fibre_z", -0.2}});
  expect_derivatives(
      solver, 8, targets,
      unknowns_of({"youngs_modulus", "active_tension", "fibre_y", "activation_signal", "rest_positions"}, {}));
}

/// Test of f = -∂E/∂x by central differences along a direction. The term's tangent alone does not prove this relation.
TEST(nodal_dilatation, force_is_the_gradient_of_the_energy) {
  DifferentiableScene solver = make_solver("stable_neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.49}});
  solver.model().prepare();
  ForceTerm& term = *solver.system().terms()[0];
  const TetrahedralMesh& mesh = *solver.mesh();
  State state = solver.initial_state();
  synchronise(state);
  const Field& x = state["positions"];
  Field direction = x.like("direction"), force = x.like("force");
  std::vector<double> d(direction.size());
  for (int v = 0; v < mesh.num_vertices(); ++v)
    for (int c = 0; c < 3; ++c) {
      const double* const X = &mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
      d[static_cast<std::size_t>(3 * v + c)] = 1e-2 * std::sin(7.0 * X[0] + 11.0 * X[1] - 5.0 * X[2] + c);
    }
  direction.from_host(d);
  term.add_force({x}, solver.parameters(), force);
  mesh.vertex_exchange().add_to_owners(force);
  const auto energy_at = [&](double step) {
    Field moved = x.clone();
    axpy(step, direction, moved);
    return term.energy({moved}, solver.parameters());
  };
  const double eps = 1e-3;
  double sums[2] = {
      (8.0 * (energy_at(eps) - energy_at(-eps)) - energy_at(2 * eps) + energy_at(-2 * eps)) / (12.0 * eps),
      local_dot(force, direction)};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_NEAR(sums[0], -sums[1], 1e-8 * std::abs(sums[1]));
}

TEST(nodal_dilatation, is_refused_where_it_cannot_be) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {1, 1, 1}, 2);
  DifferentiableMaterial material{"neo_hookean", {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}}, "all"};
  material.nodal_dilatation = true;
  EXPECT_THROW(DifferentiableScene(mesh, {material}, {}), Error);
  auto linear = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {1, 1, 1});
  DifferentiableScene solver(linear, {material}, {.dt = 0.01, .integrator = Integrator::implicit_euler});
  solver.fix("x_min");
  State state = solver.initial_state();
  solver.model().prepare();
  EXPECT_THROW(solver.step(0, state), Error);
}

}  // namespace
}  // namespace diffsim::nodal_dilatation_test
