// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of whole implicit rollouts with respect to every parameter: dot products, convergence orders, and
// differences of eighth order.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <tuple>

#include "simulation/simulation_testing.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::implicit_gradient_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 3;

/// Scene of a bar under many kinds of loads. `degree`: degree of the cells' quadrature. Second-order cells have
/// viscosity and drag.
DifferentiableScene make_solver(const std::string& integrator, const std::string& law, int degree) {
  const int order = order_of(degree);
  auto mesh =
      TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {order == 1 ? 4 : 2, 1, 1}, order, given_degree(degree));
  DifferentiableMaterial material{law, {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  if (order == 2)
    material.values.insert({{"viscosity", 60.0}, {"bulk_viscosity", 30.0}, {"rayleigh_damping", 3.0}, {"drag", 500.0}});
  DifferentiableSolver options{.dt = 0.04, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-12;
  options.implicit.ramp_steps = integrator == "quasi_static" ? num_steps : 0;
  DifferentiableScene solver(mesh, {material}, options);
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
  const auto& [integrator, law, degree] = GetParam();
  DifferentiableScene solver = make_solver(integrator, law, degree);
  // Convergence orders do not depend on the number of ranks. On several ranks, dot products detect errors of the halo
  // exchange.
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::string> names{"youngs_modulus", "poisson_ratio",     "density",
                                 "gravity",        "nodal_load",        "traction:x_max",
                                 "traction:y_max", "initial_positions", "initial_velocities"};
  if (order_of(degree) == 2)
    names = {"viscosity", "bulk_viscosity",     "rayleigh_damping", "drag",
             "density",   "initial_velocities", "rest_positions"};
  // Quasi-static steps have no velocities.
  if (std::string(integrator) == "quasi_static") std::erase(names, "initial_velocities");
  GradientCheckOptions options;
  options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
  if (ranks > 1) options.differences = false;
  expect_derivatives(solver, num_steps,
                     {{"x_max", {0.9, 0.2, 0.1}, num_steps}, {"y_max", {0.4, 0.5, 0.1}, num_steps / 2, 0.5}},
                     unknowns_of(names, {"youngs_modulus", "density"}), options);
}

const auto integrators = testing::Values("quasi_static", "implicit_euler", "bdf2", "newmark", "generalised_alpha");
INSTANTIATE_TEST_SUITE_P(tet4, EveryIntegrator,
                         testing::Combine(integrators, testing::Values("neo_hookean"), testing::Values(1)));
INSTANTIATE_TEST_SUITE_P(viscous_tet10, EveryIntegrator,
                         testing::Combine(integrators, testing::Values("stable_neo_hookean"), testing::Values(2)));
INSTANTIATE_TEST_SUITE_P(viscous_fine_tet10, EveryIntegrator,
                         testing::Values(std::tuple("newmark", "stable_neo_hookean", 5)));

/// Scene of a viscous bar of a dozen cells with all parameters of a law, for two steps. The initial state is stretched
/// along the fibres. `exact`: true if steps and linear systems are solved nearly to rounding errors.
DifferentiableScene make_solver_of(const ElasticLaw& law, const std::string& integrator, bool exact = false,
                                   MPI_Comm comm = MPI_COMM_WORLD) {
  auto mesh = TetrahedralMesh::box(comm, {0.6, 0.3, 0.2}, {2, 1, 1});
  DifferentiableMaterial material{law.name, {{"density", 900.0}, {"viscosity", 1.5}, {"bulk_viscosity", 0.8}}, "all"};
  for (const std::string& name : law.parameter_names()) material.values[name] = value_of(name);
  DifferentiableSolver options{.dt = 0.02, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = exact ? 1e-13 : 1e-12;
  if (exact) {
    options.implicit.linear.tolerance = 1e-13;
    testing_gradient::fail_soon(options);
  }
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  solver.add_traction("x_max", {300.0, -40.0, 20.0, 330.0, -60.0, 30.0});
  if (law.signal) solver.set_control(law.signal_name(), {1.2, 0.9});
  start_stretched(solver);
  return solver;
}

class EveryLawAndIntegrator : public testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(EveryLawAndIntegrator, derivatives_by_the_laws_parameters) {
  const auto& [name, integrator] = GetParam();
  const ElasticLaw& law = elastic_law(name);
  DifferentiableScene solver = make_solver_of(law, integrator);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::string> names = law.parameter_names();
  if (law.signal) names.push_back(law.signal_name());
  names.insert(names.end(), {"rest_positions", "density", "initial_positions"});
  GradientCheckOptions options;
  options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
  if (ranks > 1) options.differences = false;
  expect_derivatives(solver, 2, {{"x_max", {0.5, 0.2, 0.1}, 2}, {"y_max", {0.2, 0.5, 0.1}, 1, 0.5}},
                     unknowns_of(names, {"youngs_modulus", "density"}), options);
}

TEST_P(EveryLawAndIntegrator, gradients_have_the_slopes_that_differences_have) {
  const auto& [name, integrator] = GetParam();
  const ElasticLaw& law = elastic_law(name);
  std::vector<std::string> names = law.parameter_names();
  if (law.signal) names.push_back(law.signal_name());
  names.insert(names.end(), {"rest_positions", "density", "initial_positions"});
  testing_gradient::expect_slopes([&, of = integrator](MPI_Comm comm) { return make_solver_of(law, of, true, comm); },
                                  2, names);
}

INSTANTIATE_TEST_SUITE_P(tet4, EveryLawAndIntegrator, testing::Combine(testing::ValuesIn(law_names()), integrators),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + "_" + std::get<1>(instance.param);
                         });

}  // namespace
}  // namespace diffsim::implicit_gradient_test
