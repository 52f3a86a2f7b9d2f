// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies attached to each other: gradients of rollouts.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/directors.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::attachment_test {
namespace {

using testing_spring::line;

/// Scene of a block that is fixed at its bottom, a rod whose first two vertices are attached to the block, a sheet
/// attached to the rod, and a rope attached to the sheet.
DifferentiableScene make_chain(const std::string& integrator, MPI_Comm comm) {
  std::vector<NamedMesh> parts;
  parts.push_back({"block", testing_mesh::box_body(comm, {"block", {0.1, 0.1, 0.1}, {1, 1, 1}, {0.0, 0.0, 0.0}})});
  parts.push_back({"rod", line(comm, 6, {0.041, 0.052, 0.033}, {0.34, 0.071, 0.048})});
  add_directors(comm, parts.back().data);
  parts.push_back(
      {"sheet", testing_mesh::whole_on_first_rank(comm, testing_mesh::grid_of_triangles({2, 2}, {0.1, 0.1}, 0.0))});
  MeshData& sheet = parts.back().data;
  for (std::size_t i = 0; i < sheet.coordinates.size(); i += 3) {
    sheet.coordinates[i] += 0.25;
    sheet.coordinates[i + 1] += 0.09 + 0.01 * std::cos(40.0 * sheet.coordinates[i]);
  }
  parts.push_back({"rope", line(comm, 3, {0.29, 0.11, 0.06}, {0.31, 0.2, 0.1})});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(parts)));
  mesh->define_region("root", VertexList{{0, 1}}, "rod");
  mesh->define_region("hem", VertexList{{0, 1}}, "sheet");
  mesh->define_region("end", VertexList{{0}}, "rope");
  const DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "block/all"};
  const DifferentiableMaterial rod{
      "rod",
      {{"rod_youngs_modulus", 1e6}, {"rod_poisson_ratio", 0.3}, {"rod_radius", 0.004}, {"rod_density", 900.0}},
      "rod/all"};
  const DifferentiableMaterial cloth{
      "cloth",
      {{"cloth_stiffness", 40.0}, {"cloth_poisson_ratio", 0.25}, {"cloth_bending", 1e-4}, {"cloth_density", 0.8}},
      "sheet/all"};
  const DifferentiableMaterial rope{
      "rope", {{"rope_stiffness", 20.0}, {"rope_bending", 1e-5}, {"rope_density", 0.05}}, "rope/all"};
  DifferentiableSolver options{.dt = 0.005,
                               .substeps = 10,
                               .damping = 1.0,
                               .gravity = {0.4, -9.8, 0.7},
                               .integrator = integrator_named(integrator)};
  testing_gradient::solve_to_rounding(options);
  DifferentiableScene solver(mesh, {rubber, rod, cloth, rope}, options);
  solver.fix("block/y_min");
  solver.attach("root", "block/all", 300.0);
  solver.attach("hem", "rod/all", 50.0);
  solver.attach("end", "sheet/all", 20.0);
  // The initial velocities move the bodies apart and so strain the attachments.
  std::vector<double> velocity(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
  for (const auto& [body, v] :
       {std::pair("sheet/all", std::array{0.5, 0.4, 1.0}), std::pair("rope/all", std::array{1.5, 1.0, -0.8})})
    for (const int vertex : mesh->region(body).vertices)
      for (std::size_t c = 0; c < 3 && vertex < mesh->num_owned_vertices(); ++c)
        velocity[3 * static_cast<std::size_t>(vertex) + c] = v[c];
  solver.set_initial_velocity(velocity);
  return solver;
}

class Attachment : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(integrators, Attachment,
                         ::testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "newmark"));

TEST_P(Attachment, has_the_gradients_whose_slopes_differences_have) {
  const std::string integrator = GetParam();
  testing_gradient::expect_slopes(
      [&](MPI_Comm comm) { return make_chain(integrator, comm); }, 10,
      {"attachment_stiffness:root", "attachment_stiffness:hem", "attachment_stiffness:end", "attachment_place:root",
       "attachment_place:hem", "attachment_place:end", "youngs_modulus", "rod_youngs_modulus", "rod_radius",
       "cloth_stiffness", "rest_positions", "initial_positions", "initial_velocities"});
}

TEST_P(Attachment, derivatives_pass_the_check) {
  DifferentiableScene solver = make_chain(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_checked(
      solver, {"rope/all", {0.3, 0.2, 0.1}, 6},
      testing_simulation::unknowns_of({"attachment_stiffness:root", "attachment_stiffness:hem", "attachment_place:hem"},
                                      {}));
}

TEST_P(Attachment, products_with_the_hessian) {
  DifferentiableScene solver = make_chain(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(
      solver, 3, {"rope/all", {0.5, 0.2, 0.1}, 3},
      testing_simulation::unknowns_of({"attachment_stiffness:root", "attachment_stiffness:hem"}, {}));
}

}  // namespace
}  // namespace diffsim::attachment_test
