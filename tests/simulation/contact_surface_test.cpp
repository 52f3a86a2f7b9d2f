// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies with contact surfaces of their own, whose points are linear functions of the bodies' vertices.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulation/contact_regions.hpp"
#include "simulation/contact_second_order.hpp"
#include "simulation/contact_skins.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::contact_surface_test {
namespace {

using namespace testing_contact;

std::vector<double> positions_after(const Scene& scene, int steps) {
  DifferentiableScene solver = make_solver(scene);
  solver.require_apart();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  return state["positions"].to_host();
}

class OwnSurface : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(OwnSurface, gradients_have_the_slopes_that_differences_have) {
  const auto& [integrator, friction] = GetParam();
  std::vector<std::string> names = {"barrier_distance",  "barrier_stiffness",       "barrier_stiffness:low|middle",
                                    "thickness:high",    "obstacle_position:floor", "obstacle_position:roof",
                                    "rest_positions",    "youngs_modulus",          "initial_positions",
                                    "initial_velocities"};
  if (friction) names.insert(names.end(), {"friction", "friction_velocity"});
  // In short explicit steps the roof moves so little that finite differences consist of rounding errors.
  if (!is_explicit(integrator_named(integrator))) names.push_back("obstacle_velocity:roof");
  const Scene scene = tower_with_skins(integrator, friction);
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_solver(scene, comm); }, 2, names);
}

INSTANTIATE_TEST_SUITE_P(contact_surface, OwnSurface,
                         testing::Values(std::tuple("symplectic_euler", false), std::tuple("symplectic_euler", true),
                                         std::tuple("implicit_euler", true)),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param)) + (std::get<1>(which.param) ? "_friction" : "");
                         });

TEST(contact_surface, hessian_is_symmetric_and_expands_to_third_order) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    expect_second_order(tower_with_skins(integrator, true),
                        {"barrier_distance", "barrier_stiffness", "friction", "initial_velocities"});
  }
}

/// Contact surfaces equal to the boundary of the cells give the same motion as the boundary, also with laws of regions.
TEST(contact_surface, that_is_the_boundary_changes_nothing) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    const int steps = is_explicit(integrator_named(integrator)) ? 40 : 4;
    Scene scene = tower_with_regions(soft_law, integrator);
    scene.contact.pairs = {pair_of("low/left", "middle", hard_law), pair_of("low/under", "floor", hard_law)};
    const std::vector<double> expected = positions_after(scene, steps);
    scene.contact.surfaces = {skin(scene.blocks[1], scene.blocks[1].cells),
                              skin(scene.blocks[2], scene.blocks[2].cells)};
    const std::vector<double> found = positions_after(scene, steps);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], is_explicit(integrator_named(integrator)) ? 1e-13 : 1e-9);
  }
}

/// Distances are measured from the own surface: a surface that is 20 % larger is closer to the plane.
TEST(contact_surface, is_what_touches) {
  const auto least_distance = [](double factor) {
    Scene scene = lone_block("symplectic_euler", 1e-3, 0.0);
    scene.contact.planes.push_back({.point = {0.0, -0.01, 0.0}, .label = "floor"});
    Block block = scene.blocks[0];
    block.name = "body";
    scene.contact.surfaces = {skin(block, {3, 2, 2}, factor)};
    DifferentiableScene solver = make_solver(scene);
    solver.model().prepare();
    return solver.contact_state(0, solver.initial_state()).min_distance;
  };
  EXPECT_NEAR(least_distance(1.0), 0.01, 1e-15);
  EXPECT_NEAR(least_distance(1.2), 0.005, 1e-15);  // the block is 50 mm high
}

/// Blocks that are thrown at each other never intersect.
TEST(contact_surface, of_bodies_never_intersect) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    Scene scene = tower_with_skins(integrator, true);
    scene.contact.barrier_distance = 4e-3;
    scene.contact.barrier_stiffness = 2e5;
    scene.contact.pairs[0].barrier_stiffness = 2e5;
    scene.gravity = {0.0, -9.8, 0.0};
    if (is_explicit(integrator_named(integrator))) scene.dt = 1e-4;
    DifferentiableScene solver = make_solver(scene);
    solver.require_apart();
    State state = solver.initial_state();
    std::int64_t most = 0;
    const int steps = is_explicit(integrator_named(integrator)) ? 500 : 12;
    for (int n = 0; n < steps; ++n) {
      solver.step(n, state);
      const ContactState now = solver.contact_state(n + 1, state);
      EXPECT_EQ(now.intersections, 0);
      most = std::max(most, now.active_pairs);
    }
    EXPECT_GT(most, 4);
  }
}

TEST(contact_surface, faults_are_refused_with_what_to_do) {
  const auto message_of = [](const ContactOptions& contact) -> std::string {
    Scene scene = tower_with_regions(soft_law);
    scene.contact = contact;
    try {
      make_solver(scene).require_apart();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Scene good = tower_with_skins("symplectic_euler", false);
  const auto expect = [&](const ContactOptions& contact, const std::string& words) {
    const std::string message = message_of(contact);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  EXPECT_EQ(message_of(good.contact), "");
  ContactOptions contact = good.contact;
  contact.surfaces[0].body = "lwo";
  expect(contact, "surface of body 'lwo': there is no such body; did you mean 'low'?");
  contact = good.contact;
  contact.surfaces.push_back(contact.surfaces[0]);
  expect(contact, "surface of body 'low': the body already has a surface");
  contact = good.contact;
  contact.surfaces[0].mesh.triangles[3][1] = 1000;
  expect(contact, " has a vertex that does not exist; the number of vertices is ");
  contact = good.contact;
  contact.surfaces[0].mesh.triangles[3][1] = contact.surfaces[0].mesh.triangles[3][0];
  expect(contact, " has no area");
  contact = good.contact;
  contact.surfaces[0].mesh.vertices[2][1] += 1.0;
  expect(contact, "surface of body 'low': vertex 2 at (");
  contact = good.contact;
  contact.pairs = {pair_of("low/left", "middle", hard_law)};
  expect(contact, "region 'low/left' belongs to the boundary of body 'low', which has a separate contact surface");
  contact = good.contact;
  contact.surfaces[1] = skin(tower(soft_law).blocks[2], {1, 1, 1}, 1.5);
  expect(contact, "of high");  // the surface reaches into the block below
}

/// A closed surface has an interior; an open surface has none.
TEST(contact_surface, that_is_closed_contains) {
  for (const bool closed : {true, false}) {
    Scene scene = lone_block("symplectic_euler", 1e-3, 0.0);
    Block block = scene.blocks[0];
    block.name = "body";
    scene.contact.surfaces = {skin(block, {3, 2, 2})};
    if (!closed) scene.contact.surfaces[0].mesh.triangles.pop_back();
    MeshObstacle inside;
    inside.mesh.vertices = {{0.05, 0.02, 0.05}, {0.06, 0.02, 0.05}, {0.05, 0.02, 0.06}};
    inside.mesh.triangles = {{0, 1, 2}};
    scene.contact.meshes.push_back(inside);
    scene.contact.barrier_distance = 1e-3;
    std::string message;
    try {
      make_solver(scene).require_apart();
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_EQ(message.find("is inside the body") != std::string::npos, closed) << message;
  }
}

}  // namespace
}  // namespace diffsim::contact_surface_test
