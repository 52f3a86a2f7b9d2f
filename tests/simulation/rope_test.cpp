// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Ropes: gradients with respect to every parameter with every integrator.

#include <gtest/gtest.h>

#include "diffsim/simulation/simulator.hpp"
#include "simulation/parameter_specs.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::rope_test {
namespace {

const std::vector<std::string> of_rope{"rope_stiffness", "rope_bending", "rope_density"};

/// Scene of a rope of 12 segments that hangs from its first two vertices.
DifferentiableScene make_rope(const std::string& integrator, MPI_Comm comm) {
  auto mesh = std::make_shared<TetrahedralMesh>(comm, testing_spring::curved_line(comm, 12));
  mesh->define_region("held", VertexList{{0, 1}});
  DifferentiableSolver options{.dt = 0.004,
                               .substeps = 3,
                               .damping = 0.99,
                               .gravity = {0.3, -4.8, -9.4},
                               .integrator = integrator_named(integrator)};
  testing_gradient::solve_to_rounding(options);
  DifferentiableMaterial rope{"rope", {}, "all"};
  for (const std::string& name : of_rope) rope.values[name] = find_parameter_spec(name)->sample;
  DifferentiableScene solver(mesh, {rope}, options);
  solver.fix("held");
  return solver;
}

class Rope : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(integrators, Rope,
                         ::testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2", "newmark"));

TEST_P(Rope, gradients_have_the_slopes_that_differences_have) {
  const std::string integrator = GetParam();
  std::vector<std::string> names = of_rope;
  names.insert(names.end(), {"gravity", "rest_positions", "initial_positions", "initial_velocities"});
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_rope(integrator, comm); }, 12, names);
}

TEST_P(Rope, derivatives_pass_the_check) {
  DifferentiableScene solver = make_rope(GetParam(), MPI_COMM_WORLD);
  solver.mesh()->define_region("tip", VertexList{{10, 11, 12}});
  testing_simulation::expect_checked(solver, {"tip", {0.3, 0.2, 0.1}, 6}, testing_simulation::unknowns_of(of_rope, {}));
}

TEST_P(Rope, products_with_the_hessian) {
  DifferentiableScene solver = make_rope(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(solver, 3, {"all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(of_rope, {}));
}

}  // namespace
}  // namespace diffsim::rope_test
