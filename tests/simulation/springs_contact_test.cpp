// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact of mass–spring systems: a net on a plane, a net on a block of tetrahedra, and the force on a line of springs.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "contact/barrier.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/parameter_specs.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/thin_contact.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::springs_contact_test {
namespace {

using namespace testing_spring;

using Case = testing_thin::ContactCase;

DifferentiableMaterial springs(const std::string& region, double stiffness) {
  return {"springs", {{"spring_stiffness", stiffness}, {"spring_damping", 0.02}, {"point_mass", 0.002}}, region};
}

/// Scene of a net that falls on an inclined plane.
DifferentiableScene make_net_on_plane(const Case& of, MPI_Comm comm) {
  auto mesh = std::make_shared<TetrahedralMesh>(comm, net(comm, 3, 2, 0.05));
  DifferentiableScene solver(mesh, {springs("all", 40.0)}, of.solver(0.002, 2));
  solver.set_initial_velocity([&] {
    std::vector<double> start;
    for (int v = 0; v < mesh->num_owned_vertices(); ++v) start.insert(start.end(), {0.3, -0.4, 0.1});
    return start;
  }());
  ContactOptions contact = of.contact(0.012, of.stiffness());
  contact.planes.push_back({.point = {0.0, -0.004, 0.0}, .normal = {0.1, 1.0, 0.05}, .label = "floor"});
  solver.add_contact(contact);
  return solver;
}

/// Scene of a net that falls on a block. A wire next to the net is an obstacle, so the springs are only some of the
/// mesh's segments. No vertex is above an edge of the block, where the second derivative of the distance jumps.
DifferentiableScene make_net_on_block(const Case& of, MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(
      {"block", testing_mesh::box_body(comm, {"block", {0.1, 0.05, 0.1}, {1, 1, 1}, {0.0237, -0.058, 0.0143}})});
  bodies.push_back(
      {"wire", segments(comm, {{0.01, -0.05, 0.2}, {0.08, -0.06, 0.2}, {0.15, -0.05, 0.21}}, {{0, 1}, {1, 2}})});
  bodies.push_back({"net", net(comm, 3, 2, 0.05)});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  const DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "block/all"};
  DifferentiableScene solver(mesh, {rubber, springs("net/all", 40.0)}, of.solver(0.002, 2));
  solver.fix("block/y_min");
  solver.set_initial_velocity([&] {
    std::vector<double> start(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
    for (const int v : mesh->region("net/all").vertices)
      for (std::size_t c = 0; c < 3 && v < mesh->num_owned_vertices(); ++c)
        start[3 * static_cast<std::size_t>(v) + c] = std::array{0.3, -0.4, 0.15}[c];
    return start;
  }());
  solver.add_contact(of.contact(0.012, of.stiffness()));
  return solver;
}

std::vector<std::string> names_of(const Case& of, std::vector<std::string> more) {
  std::vector<std::string> names{"spring_stiffness", "spring_damping",    "rest_length",       "point_mass",
                                 "barrier_distance", "barrier_stiffness", "initial_positions", "initial_velocities"};
  if (of.friction) names.insert(names.end(), {"friction", "friction_velocity"});
  if (of.thickness > 0.0) names.emplace_back("thickness");
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& of) { return of.param.name(); }

class NetOnPlane : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, NetOnPlane,
                         ::testing::Values(Case{"symplectic_euler", false}, Case{"velocity_verlet", true, 0.002},
                                           Case{"velocity_verlet", true}, Case{"implicit_euler", false, 0.002},
                                           Case{"newmark", true, 0.002}),
                         name_of_case);

TEST_P(NetOnPlane, has_the_gradients_whose_slopes_differences_have) {
  const Case of = GetParam();
  const auto make = [&](MPI_Comm comm) { return make_net_on_plane(of, comm); };
  DifferentiableScene solver = make(MPI_COMM_WORLD);
  EXPECT_GT(testing_gradient::most_active_pairs(solver, 8), 2);
  testing_gradient::expect_slopes(make, 8, names_of(of, {"obstacle_position:floor", "rest_positions"}));
}

class NetOnBlock : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, NetOnBlock,
                         ::testing::Values(Case{"velocity_verlet", true}, Case{"implicit_euler", true, 0.002}),
                         name_of_case);

TEST_P(NetOnBlock, has_the_gradients_whose_slopes_differences_have) {
  const Case of = GetParam();
  const auto make = [&](MPI_Comm comm) { return make_net_on_block(of, comm); };
  DifferentiableScene solver = make(MPI_COMM_WORLD);
  EXPECT_GT(testing_gradient::most_active_pairs(solver, 8), 2);
  testing_gradient::expect_slopes(make, 8, names_of(of, {"youngs_modulus", "rest_positions"}));
}

/// Total force on the vertices of a net at rest, f = m a, from one step of symplectic Euler without gravity.
std::array<double, 3> push_of(DifferentiableScene& solver, double mass, double dt) {
  State state = solver.initial_state();
  solver.model().prepare();
  solver.step(0, state);
  const std::vector<double> v = state["velocities"].to_host();
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < v.size(); ++i) sum[i % 3] += mass * v[i] / dt;
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Expects the force N = κ (d̂/2) L |∂ψ/∂φ| on a straight line of springs of length L at the height φ above a plane.
void expect_push(double thickness) {
  constexpr double height = 0.004, range = 0.01, kappa = 3e4, dt = 1e-4, mass = 0.5;
  std::vector<NamedMesh> bodies;
  bodies.push_back(
      {"line", segments(MPI_COMM_WORLD, {{0, height, 0}, {0.1, height, 0}, {0.25, height, 0}, {0.3, height, 0}},
                        {{0, 1}, {1, 2}, {2, 3}})});
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  DifferentiableScene solver(mesh, {{"springs", {{"spring_stiffness", 10.0}, {"point_mass", mass}}, "all"}},
                             {.dt = dt, .substeps = 1, .damping = 1.0, .gravity = {0.0, 0.0, 0.0}});
  ContactOptions contact;
  contact.barrier_distance = range;
  contact.barrier_stiffness = kappa;
  if (thickness > 0.0) contact.thickness = thickness;
  contact.planes.push_back({.point = {0.0, 0.0, 0.0}, .normal = {0.0, 1.0, 0.0}});
  solver.add_contact(contact);
  const double h = 1e-6, xi = 0.5 * thickness;
  const auto potential = [&](double phi) {
    return thickness > 0.0 ? contact::Barrier(phi * phi, range, xi).value : contact::Barrier(phi * phi, range).value;
  };
  const double slope = (potential(height + h) - potential(height - h)) / (2.0 * h);
  const std::array<double, 3> push = push_of(solver, mass, dt);
  EXPECT_NEAR(push[1], -kappa * 0.5 * range * 0.3 * slope, 1e-6 * push[1]);
  EXPECT_NEAR(push[0], 0.0, 1e-9);
}

TEST(SpringsOnPlane, are_pushed_by_a_strip_of_half_the_range_times_their_length) { expect_push(0.0); }
TEST(SpringsOnPlane, are_pushed_by_that_strip_where_they_have_a_thickness) { expect_push(0.002); }

}  // namespace
}  // namespace diffsim::springs_contact_test
