// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies of segments and of points as obstacles.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/mesh/construction.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::wires_test {
namespace {

using namespace testing_contact;
using testing_mesh::box_body;
using testing_mesh::whole_on_first_rank;

/// Bent wire of five segments below the block, from one edge of the block to the opposite one.
MeshData wire(double height) {
  MeshData data;
  data.num_vertices = 6;
  for (int k = 0; k < 6; ++k)
    data.coordinates.insert(data.coordinates.end(),
                            {-0.02 + 0.027 * k, height + 0.0007 * k * (5 - k), 0.021 + 0.009 * k});
  for (std::int64_t k = 0; k < 5; ++k) {
    std::vector<std::int64_t>& nodes = data.lower(CellKind::segment).nodes;
    nodes.insert(nodes.end(), {k, k + 1});
  }
  data.lower(CellKind::segment).num = 5;
  return data;
}

/// Tips of three nails below the block.
MeshData nails(double height) {
  MeshData data;
  data.num_vertices = 3;
  data.coordinates = {0.023, height, 0.072, 0.081, height - 0.001, 0.067, 0.061, height + 0.0005, 0.013};
  data.lower(CellKind::point).nodes = {0, 1, 2};
  data.lower(CellKind::point).num = 3;
  return data;
}

/// Scene of a block that falls on a moving wire and on nails.
DifferentiableScene make_block(const std::string& integrator, double friction, MPI_Comm comm, double dt,
                               std::optional<double> thickness = 1.5e-3, double gap = 0.007) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"block", box_body(comm, {"block", {0.1, 0.05, 0.1}, {2, 1, 2}, {}})});
  bodies.push_back({"wire", whole_on_first_rank(comm, wire(-gap - 0.0042))});
  bodies.push_back({"nails", whole_on_first_rank(comm, nails(-gap))});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableSolver options{
      .dt = dt, .substeps = 1, .damping = 1.0, .gravity = {0.0, -9.8, 0.0}, .integrator = integrator_named(integrator)};
  DifferentiableScene solver = testing_simulation::make_soft_solver(mesh, 5e4, options);
  const std::array<double, 3> velocity{0.1, 0.2, -0.1};
  solver.move("wire/all", {0.0, 1.0, 0.2}, {0.05, 0.0, 0.05}, {1.5}, {velocity.begin(), velocity.end()});
  std::vector<double> start(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
  for (const int v : mesh->region("block/all").vertices)
    for (std::size_t c = 0; c < 3 && v < mesh->num_owned_vertices(); ++c)
      start[3 * static_cast<std::size_t>(v) + c] = std::array{0.1, -0.3, 0.05}[c];
  solver.set_initial_velocity(start);
  ContactOptions contact = soft(true);
  contact.barrier_distance = 0.012;
  contact.barrier_stiffness = 5e4;
  contact.friction = friction;
  if (thickness) contact.thicknesses = {{"wire", *thickness}, {"nails", 1e-3}};
  solver.add_contact(contact);
  return solver;
}

class Wires : public ::testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(Wires, gradients_have_the_slopes_that_differences_have) {
  const auto& [integrator, friction] = GetParam();
  const bool is_explicit = diffsim::is_explicit(integrator_named(integrator));
  std::vector<std::string> names{"velocity:wire/all", "angular_velocity:wire/all", "thickness:wire",
                                 "thickness:nails",   "barrier_distance",          "barrier_stiffness",
                                 "rest_positions",    "initial_positions",         "initial_velocities"};
  if (friction) names.insert(names.end(), {"friction", "friction_velocity"});
  const bool with = friction;
  const std::string name = integrator;
  testing_gradient::expect_slopes(
      [&](MPI_Comm comm) { return make_block(name, with ? 0.3 : 0.0, comm, is_explicit ? 4e-4 : 4e-3); },
      is_explicit ? 5 : 2, names);
}

INSTANTIATE_TEST_SUITE_P(wires, Wires,
                         ::testing::Combine(::testing::Values("symplectic_euler", "implicit_euler"), ::testing::Bool()),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param)) + (std::get<1>(which.param) ? "_friction" : "");
                         });

TEST(wires, hold_a_block_that_falls_on_them) {
  for (const std::optional<double> thickness : {std::optional<double>(), std::optional<double>(3e-3)})
    for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
      SCOPED_TRACE(integrator);
      const bool is_explicit = diffsim::is_explicit(integrator_named(integrator));
      DifferentiableScene solver = make_block(integrator, 0.3, MPI_COMM_WORLD, is_explicit ? 1e-4 : 4e-3, thickness);
      solver.require_apart();
      State state = solver.initial_state();
      double least = 1.0;
      std::int64_t most = 0;
      for (int n = 0; n < (is_explicit ? 400 : 15); ++n) {
        solver.step(n, state);
        const ContactState now = solver.contact_state(n + 1, state);
        EXPECT_EQ(now.intersections, 0);
        least = std::min(least, now.min_distance);
        most = std::max(most, now.active_pairs);
      }
      EXPECT_GT(least, 0.0);
      EXPECT_LT(least, 0.012);
      EXPECT_GT(most, 4);
    }
}

TEST(wires, that_begin_in_a_body_or_nearer_than_thickness_are_refused) {
  const auto error_of = [](DifferentiableScene solver) -> std::string {
    try {
      solver.require_apart();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(make_block("symplectic_euler", 0.0, MPI_COMM_WORLD, 1e-4)), "");
  const std::string through = error_of(make_block("symplectic_euler", 0.0, MPI_COMM_WORLD, 1e-4, 1.5e-3, -0.004));
  EXPECT_NE(through.find("touches or intersects"), std::string::npos) << through;
  const std::string near = error_of(make_block("symplectic_euler", 0.0, MPI_COMM_WORLD, 1e-4, 0.016));
  EXPECT_NE(near.find("of wire"), std::string::npos) << near;
  EXPECT_NE(near.find("the mean of their thicknesses, 0.008 m"), std::string::npos) << near;
}

}  // namespace
}  // namespace diffsim::wires_test
