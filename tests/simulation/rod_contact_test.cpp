// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact of rods: on a block of tetrahedra, and of crossing rods next to a rope.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/body_meshes.hpp"
#include "mesh/cell_model.hpp"
#include "mesh/directors.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/thin_contact.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::rod_contact_test {
namespace {

using Case = testing_thin::ContactCase;
using testing_thin::throw_down;

std::string name_of_case(const ::testing::TestParamInfo<Case>& of) { return of.param.name(); }

using testing_spring::line;

MeshData rod_line(MPI_Comm comm, int n, std::array<double, 3> from, std::array<double, 3> to,
                  std::array<double, 3> sag) {
  MeshData data = line(comm, n, from, to, sag);
  add_directors(comm, data);
  return data;
}

DifferentiableMaterial soft_rod(const std::string& region) {
  return {"rod",
          {{"rod_youngs_modulus", 3e5},
           {"rod_poisson_ratio", 0.3},
           {"rod_radius", 0.003},
           {"rod_rest_curvature", 0.5},
           {"rod_rest_twist", 2.5},
           {"rod_density", 900.0}},
          region};
}

DifferentiableScene make_rod_on_block(const Case& of, MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(
      {"block", testing_mesh::box_body(comm, {"block", {0.1, 0.05, 0.1}, {1, 1, 1}, {0.0237, -0.054, -0.0083}})});
  bodies.push_back({"rod", rod_line(comm, 5, {0.02, 0.004, 0.01}, {0.12, 0.006, 0.065}, {0.0, 0.002, 0.004})});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  const DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "block/all"};
  DifferentiableScene solver(mesh, {rubber, soft_rod("rod/all")}, of.solver(0.002, 4));
  solver.fix("block/y_min");
  throw_down(solver, "rod/all");
  solver.add_contact(of.contact(0.012, of.stiffness()));
  return solver;
}

DifferentiableScene make_crossing(const Case& of, MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"low", rod_line(comm, 4, {0.0, 0.0, 0.0}, {0.1, 0.0, 0.01}, {0.0, 0.002, 0.0})});
  bodies.push_back({"rope", line(comm, 3, {0.02, 0.009, -0.04}, {0.03, 0.01, 0.05}, {0.004, 0.0, 0.0})});
  bodies.push_back({"high", rod_line(comm, 4, {0.065, 0.011, -0.05}, {0.08, 0.012, 0.05}, {-0.004, 0.0, 0.0})});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  mesh->define_region("ends", VertexList{{0, 4}}, "low");
  const DifferentiableMaterial hemp{
      "rope", {{"rope_stiffness", 5.0}, {"rope_bending", 1e-5}, {"rope_density", 0.02}}, "rope/all"};
  DifferentiableScene solver(mesh, {soft_rod("low/all"), hemp, soft_rod("high/all")}, of.solver(0.002, 4));
  solver.clamp("ends", {true, true, true});
  throw_down(solver, "high/all");
  solver.add_contact(of.contact(0.012, of.stiffness()));
  return solver;
}

using Make = DifferentiableScene (*)(const Case&, MPI_Comm);

void expect_slopes(Make make_case, const Case& of, int num_steps) {
  const auto make = [&](MPI_Comm comm) { return make_case(of, comm); };
  DifferentiableScene solver = make(MPI_COMM_WORLD);
  EXPECT_GT(testing_gradient::most_active_pairs(solver, num_steps), 2);
  std::vector<std::string> names{"barrier_distance", "barrier_stiffness", "initial_positions", "initial_velocities",
                                 "rest_positions"};
  for (const ParameterSpec& spec : find_cell_model("rod")->parameters) names.emplace_back(spec.name);
  if (of.friction) names.insert(names.end(), {"friction", "friction_velocity"});
  if (of.thickness > 0.0) names.emplace_back("thickness");
  testing_gradient::expect_slopes(make, num_steps, names);
}

class RodOnBlock : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, RodOnBlock,
                         ::testing::Values(Case{"velocity_verlet", true}, Case{"implicit_euler", true, 0.002}),
                         name_of_case);
TEST_P(RodOnBlock, has_the_gradients_whose_slopes_differences_have) { expect_slopes(make_rod_on_block, GetParam(), 8); }

class Crossing : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, Crossing, ::testing::Values(Case{"symplectic_euler", true, 0.002}, Case{"bdf2", true}),
                         name_of_case);
TEST_P(Crossing, has_the_gradients_whose_slopes_differences_have) { expect_slopes(make_crossing, GetParam(), 8); }

}  // namespace
}  // namespace diffsim::rod_contact_test
