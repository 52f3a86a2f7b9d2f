// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of whole rollouts with respect to every parameter of every law, on linear and quadratic cells: dot
// products, convergence orders, and differences of eighth order.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/elastic/impl/elastic_term.hpp"
#include "simulation/simulation_testing.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::gradient_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 8;

/// Scene of a stretched bar with viscosity, drag, a traction and nodal loads. `degree`: degree of the cells'
/// quadrature.
DifferentiableScene make_solver(const ElasticLaw& law, int degree, const std::string& integrator = "symplectic_euler",
                                bool viscous = true, MPI_Comm comm = MPI_COMM_WORLD) {
  auto mesh = TetrahedralMesh::box(comm, {0.6, 0.3, 0.2}, {3, 1, 1}, order_of(degree), given_degree(degree));
  DifferentiableMaterial material{law.name, {}, "all"};
  std::vector<std::string> names = law.parameter_names();
  names.emplace_back("density");
  if (viscous) names.insert(names.end(), {"viscosity", "bulk_viscosity", "rayleigh_damping", "drag"});
  for (const std::string& name : names) material.values[name] = value_of(name);
  DifferentiableScene solver(mesh, {material},
                             {.dt = 0.004,
                              .substeps = 4,
                              .damping = 0.995,
                              .gravity = {0.5, -9.8, 1.0},
                              .integrator = integrator_named(integrator)});
  solver.fix("x_min");
  solver.fix("z_min", {false, false, true});
  std::vector<double> pull, signal;
  for (int n = 0; n < num_steps; ++n) {
    pull.insert(pull.end(), {30.0 * n, -40.0, 20.0 * std::sin(n)});
    signal.push_back(1.0 + 0.3 * std::cos(n));
  }
  solver.add_traction("x_max", pull);
  solver.add_nodal_load(std::vector<double>(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.02));
  if (law.signal) solver.set_control(law.signal_name(), signal);
  start_stretched(solver);
  return solver;
}

std::vector<Unknown> every_unknown(const ElasticLaw& law) {
  std::vector<std::string> names = law.parameter_names();
  names.insert(names.end(),
               {"density", "viscosity", "bulk_viscosity", "rayleigh_damping", "drag", "gravity", "damping",
                "nodal_load", "traction:x_max", "initial_positions", "initial_velocities", "rest_positions"});
  if (law.signal) names.push_back(law.signal_name());
  return unknowns_of(names, {"youngs_modulus", "density", "viscosity"});
}

class EveryLaw : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  static void check(DifferentiableScene& solver, const std::vector<Unknown>& unknowns) {
    expect_derivatives(solver, num_steps,
                       {{"x_max", {0.5, 0.2, 0.1}, num_steps}, {"y_max", {0.2, 0.5, 0.1}, num_steps / 2, 0.5}},
                       unknowns);
  }
};

TEST_P(EveryLaw, derivatives_by_every_parameter) {
  const ElasticLaw& law = elastic_law(std::get<0>(GetParam()));
  DifferentiableScene solver = make_solver(law, std::get<1>(GetParam()));
  check(solver, every_unknown(law));
}

TEST_P(EveryLaw, gradients_have_the_slopes_that_differences_have) {
  const auto& [name, degree] = GetParam();
  const ElasticLaw& law = elastic_law(name);
  const auto make = [&law, degree = degree](MPI_Comm comm) {
    return make_solver(law, degree, "symplectic_euler", true, comm);
  };
  // Dissipation and nodal loads are left out: their effect is small, and simulation/whole_gradient_test.cpp has them.
  std::vector<std::string> names = law.parameter_names();
  names.insert(names.end(), {"density", "gravity", "damping", "traction:x_max", "initial_positions",
                             "initial_velocities", "rest_positions"});
  if (law.signal) names.push_back(law.signal_name());
  testing_gradient::expect_slopes(make, num_steps, names);
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, int>>& instance) {
  const auto& [law, degree] = instance.param;
  return law + (degree == 1 ? "_tet4" : degree == 2 ? "_tet10" : "_fine_tet10");
}

INSTANTIATE_TEST_SUITE_P(simulation, EveryLaw, testing::Combine(testing::ValuesIn(law_names()), testing::Values(1, 2)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(quadrature, EveryLaw,
                         testing::Combine(testing::Values("neo_hookean", "active_fibre"), testing::Values(5)), name_of);

class EveryRule : public EveryLaw {};

// Integrators other than symplectic Euler. Without viscosity, velocity Verlet uses each force in two substeps.
TEST_P(EveryRule, derivatives_by_every_parameter) {
  const auto& [integrator, viscous] = GetParam();
  const ElasticLaw& law = elastic_law("neo_hookean");
  DifferentiableScene solver = make_solver(law, 1, integrator, viscous != 0);
  std::vector<Unknown> unknowns = every_unknown(law);
  std::erase_if(unknowns, [&](const Unknown& unknown) {
    return !unknown.parameter.starts_with("initial_") && !solver.parameters().find(unknown.parameter);
  });
  check(solver, unknowns);
}

INSTANTIATE_TEST_SUITE_P(simulation, EveryRule,
                         testing::Combine(testing::Values("explicit_euler", "velocity_verlet", "runge_kutta_2",
                                                          "runge_kutta_4"),
                                          testing::Values(0, 1)),
                         [](const testing::TestParamInfo<std::tuple<std::string, int>>& instance) {
                           return std::get<0>(instance.param) + (std::get<1>(instance.param) != 0 ? "_viscous" : "");
                         });

class EveryShape : public EveryLaw {};

// Unknowns shared by many entries: one value for all cells, a linear map from two unknowns to a modulus of all cells,
// and a linear map from three unknowns to all rest positions. The initial positions x[0] change with the rest
// positions.
TEST_P(EveryShape, derivatives_by_shared_numbers) {
  const ElasticLaw& law = elastic_law(std::get<0>(GetParam()));
  DifferentiableScene solver = make_solver(law, std::get<1>(GetParam()));
  const TetrahedralMesh& mesh = *solver.mesh();
  Unknown global;
  global.parameter = "youngs_modulus";
  global.label = "global";
  global.group.assign(static_cast<std::size_t>(mesh.num_cells()), 0);
  global.group_names = {""};
  Unknown mapped;
  mapped.parameter = "poisson_ratio";
  mapped.label = "mapped";
  mapped.map_numbers = 2;
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    const double place =
        mesh.rest_positions()[3 * static_cast<std::size_t>(
                                      mesh.cells()[static_cast<std::size_t>(mesh.nodes_per_cell() * cell)])];
    mapped.map.insert(mapped.map.end(), {0.05, 0.1 * place});
  }
  Unknown in_logarithm = mapped;
  in_logarithm.parameter = "density";
  in_logarithm.label = "mapped logarithm";
  in_logarithm.logarithmic = true;
  Unknown shape;
  shape.parameter = "rest_positions";
  shape.carries = "positions";
  shape.map_numbers = 3;
  for (int v = 0; v < mesh.num_owned_vertices(); ++v)
    for (int c = 0; c < 3; ++c) {
      const double x = mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
      shape.map.insert(shape.map.end(), {c == 0 ? x : 0.0, c == 1 ? x * x : 0.0, c == 2 ? std::sin(5.0 * x) : 0.0});
    }
  check(solver, {global, mapped, in_logarithm, shape});
}

INSTANTIATE_TEST_SUITE_P(simulation, EveryShape,
                         testing::Combine(testing::Values("neo_hookean"), testing::Values(1, 2)));

}  // namespace
}  // namespace diffsim::gradient_test
