// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives with respect to the rest shape through contact, whose areas depend on the rest shape. Also the adaptive
// stiffness of a body.

#include <gtest/gtest.h>

#include "diffsim/contact/impl/surface_areas.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::contact_shape_test {
namespace {

using namespace testing_contact;
using testing_simulation::unknowns_of;

void expect_derivatives(Scene scene, int steps) {
  DifferentiableScene solver = make_solver(scene);
  solver.mesh()->define_region("top", BoxShape{{-1.0, scene.blocks.back().place[1] + 0.04, -1.0}, {1.0, 1.0, 1.0}});
  GradientCheckOptions options;
  if (solver.model().solver_tolerance() > 0.0) options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
  testing_simulation::expect_derivatives(solver, steps,
                                         {{"all", {0.1, 0.3, -0.1}, steps}, {"top", {0.5, 0.3, 0.4}, steps}},
                                         unknowns_of({"rest_positions"}, {}), options);
}

/// Scene of an unrotated block above a plane.
Scene on_plane(double friction) {
  Scene scene;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.0, {0.2, -0.3, 0.0}}};
  scene.contact = soft(false);
  scene.contact.friction = friction;
  scene.contact.planes.push_back({.point = {0.0, -0.012, 0.0}, .normal = {0.0, 1.0, 0.0}});
  return scene;
}

TEST(contact_shape, derivatives_in_explicit_steps) {
  expect_derivatives(on_plane(0.3), 15);
  expect_derivatives(stack(0.4, 0.0), 15);
  expect_derivatives(stack(0.02, 0.3), 15);  // nearly parallel edges: the mollifier depends on the rest shape too
}

TEST(contact_shape, derivatives_in_implicit_steps) {
  Scene scene = stack(0.02, 0.3);
  scene.integrator = "implicit_euler";
  scene.dt = 0.004;
  scene.contact.planes = on_plane(0.0).contact.planes;
  scene.blocks[0].velocity = {0.0, -0.3, 0.0};
  expect_derivatives(scene, 3);
}

TEST(contact_shape, areas_and_their_derivatives_are_those_of_the_shape) {
  const auto mesh = make_mesh(stack(0.4, 0.0).blocks, MPI_COMM_WORLD);
  const contact::RestAreas of(*mesh);
  Field rest("rest", mesh->vertex_entities(), 3);
  rest.from_host(mesh->rest_positions());
  double sums[2] = {0.0, 0.0};
  for (const double area : of.areas(rest)) sums[0] += area;
  // The derivative of the areas in the direction X is twice the areas.
  for (const double slope : of.tangent(rest, rest)) sums[1] += slope;
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double surface = 2.0 * (2.0 * 0.1 * 0.1 + 4.0 * 0.1 * 0.05);
  EXPECT_NEAR(sums[0], surface, 1e-12);
  EXPECT_NEAR(sums[1], 2.0 * surface, 1e-12);
}

TEST(contact_shape, the_stiffness_chosen_follows_body_and_weight) {
  const auto chosen = [](double youngs_modulus, double gravity, double distance) {
    auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.2, 0.1, 0.1}, {4, 2, 2});
    DifferentiableMaterial material{
        "stable_neo_hookean", {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", 0.3}, {"density", 1e3}}, "all"};
    DifferentiableScene solver(mesh, {material}, {.gravity = {0.0, -gravity, 0.0}});
    ContactOptions contact{.barrier_distance = distance, .adaptive_stiffness = true};
    contact.self = true;
    solver.add_contact(contact);
    return solver.parameters().at("barrier_stiffness").field.to_host().at(0);
  };
  const double soft = chosen(1e5, 0.0, 1e-3);
  EXPECT_GT(soft, 0.0);
  EXPECT_NEAR(chosen(3e5, 0.0, 1e-3), 3.0 * soft, 1e-9 * soft);
  EXPECT_NEAR(chosen(1e5, 0.0, 2e-3), 2.0 * soft, 1e-9 * soft);
  // Weight of 2 kg on a tenth of the area 0.1 m².
  EXPECT_NEAR(chosen(1.0, 10.0, 1e-3), 20.0 / 0.01 / 4.33, 1e-6);
}

// A mat is thinner than a third of the width of its triangles: its barrier between crossing edges is as stiff as a
// vertex.
TEST(contact_shape, adaptive_stiffness_of_a_thin_body_follows_its_edges) {
  const auto chosen = [](double thickness, double distance) {
    auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, thickness}, {12, 12, 1});
    DifferentiableMaterial material{
        "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.4}, {"density", 1e3}}, "all"};
    DifferentiableScene solver(mesh, {material}, {.gravity = {0.0, 0.0, 0.0}});
    return solver.adaptive_stiffness(distance);
  };
  // The stiffness by areas grows with d̂; the stiffness by edges decreases with d̂.
  EXPECT_NEAR(chosen(0.02, 2e-3), 0.5 * chosen(0.02, 1e-3), 1e-9 * chosen(0.02, 1e-3));
  EXPECT_NEAR(chosen(0.08, 2e-3), 2.0 * chosen(0.08, 1e-3), 1e-9 * chosen(0.08, 1e-3));
  EXPECT_GT(chosen(0.02, 1e-3), 10.0 * chosen(0.08, 1e-3));
}

}  // namespace
}  // namespace diffsim::contact_shape_test
