// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Cloth: the gradient by every parameter with every integrator.

#include <gtest/gtest.h>

#include "diffsim/simulation/parameter_specs.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim {
namespace {

const std::vector<std::string> of_cloth{"cloth_stiffness", "cloth_poisson_ratio", "cloth_bending", "cloth_density"};

/// A sheet of 24 triangles, a little bent, that hangs from two corners.
DifferentiableSolver make_sheet(const std::string& integrator, MPI_Comm comm) {
  MeshData data = testing::grid_of_triangles({4, 3}, {0.4, 0.3}, 0.0);
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    double* const x = &data.coordinates[i];
    x[2] = 0.05 * std::sin(9.0 * x[0] + 4.0 * x[1]) + 0.2 * x[1] * x[1];
  }
  auto mesh = std::make_shared<TetrahedralMesh>(comm, testing::whole_on_first_rank(comm, std::move(data)));
  mesh->define_region("corners", VertexList{{0, 4}});
  SolverOptions options{
      .dt = 0.004, .substeps = 2, .damping = 0.99, .gravity = {0.3, -4.8, -9.4}, .integrator = integrator};
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.newton.linear_tolerance = 1e-13;
  DifferentiableMaterial cloth{"cloth", {}, "all"};
  for (const std::string& name : of_cloth) cloth.values[name] = find_parameter_spec(name)->sample;
  DifferentiableSolver solver(mesh, {cloth}, options);
  solver.fix("corners");
  return solver;
}

class Sheet : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(integrators, Sheet,
                         ::testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2", "newmark"));

TEST_P(Sheet, gradients_have_the_slopes_that_differences_have) {
  const std::string integrator = GetParam();
  std::vector<std::string> names = of_cloth;
  names.insert(names.end(), {"gravity", "rest_positions", "initial_positions", "initial_velocities"});
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_sheet(integrator, comm); }, 12, names);
}

TEST_P(Sheet, derivatives_pass_the_check) {
  DifferentiableSolver solver = make_sheet(GetParam(), MPI_COMM_WORLD);
  solver.mesh()->define_region("hem", VertexList{{15, 16, 17, 18, 19}});
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("hem"), {0.3, 0.2, 0.1}, 6);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), 6, loss, testing_simulation::unknowns_of(of_cloth, {}),
      [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  testing_simulation::expect_checked(problem);
}

TEST_P(Sheet, products_with_the_hessian) {
  DifferentiableSolver solver = make_sheet(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(solver, 3, {"all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(of_cloth, {}));
}

}  // namespace
}  // namespace diffsim
