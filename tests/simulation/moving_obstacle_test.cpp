// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Moving obstacles: nothing passes through them, and derivatives with respect to their motion.

#include <gtest/gtest.h>

#include "contact/obstacles.hpp"
#include "diffsim/core/error.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::moving_obstacle_test {
namespace {

using namespace testing_contact;
using testing_simulation::momentum;
using testing_simulation::unknowns_of;

/// Scene of a free block above a table, which may move.
Scene table(const std::string& integrator, double dt, std::array<double, 3> velocity, double friction = 0.0) {
  Scene scene = lone_block(integrator, dt, friction);
  MeshObstacle obstacle;
  obstacle.mesh = contact::box_triangles({-0.05, -0.06, -0.07}, {0.16, -0.02, 0.14});
  obstacle.velocity = velocity;
  scene.contact.meshes.push_back(obstacle);
  return scene;
}

/// Scene `table` in which the table also rotates, about an axis through its middle that is no axis of symmetry.
Scene turning(const std::string& integrator, double dt, double friction, double rate) {
  Scene scene = table(integrator, dt, {0.0, 0.1, 0.0}, friction);
  scene.contact.meshes[0].rotation.axis = {0.2, 0.9, 0.1};
  scene.contact.meshes[0].rotation.origin = {0.05, -0.04, 0.03};
  scene.contact.meshes[0].rotation.angular_velocity = rate;
  return scene;
}

/// Expects the obstacle to push the body upwards without intersections in any step. `speed`: speed of the obstacle
/// under the body's centre, m/s. Without friction, an elastic impact gives the body twice this speed, and a completely
/// inelastic impact gives the body this speed.
void expect_lifted(DifferentiableScene solver, int steps, double speed) {
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) {
    solver.step(n, state);
    const ContactState contact = solver.contact_state(n + 1, state);
    EXPECT_EQ(contact.intersections, 0);
    EXPECT_GT(contact.min_distance, 1e-5);
  }
  const double mass = 1000.0 * 0.1 * 0.05 * 0.1, velocity = momentum(solver.system(), state)[1] / mass;
  EXPECT_GT(velocity, speed);
  EXPECT_LT(velocity, 2.1 * speed);
}

class ImplicitObstacle : public testing::TestWithParam<const char*> {};

TEST_P(ImplicitObstacle, a_table_that_comes_far_in_a_step_lifts_the_body) {
  // The table moves by 30 mm per step, more than the gap of 20 mm: twice d̂, and more than half of the body's height.
  Scene scene = table(GetParam(), 0.01, {0.0, 3.0, 0.0});
  scene.contact.barrier_stiffness = 4e5;
  expect_lifted(make_solver(scene), 4, 3.0);
}

TEST_P(ImplicitObstacle, a_paddle_that_turns_far_in_a_step_strikes_the_body_up) {
  // The tip moves by 38 mm per step, through a gap of 30 mm. Its path is an arc, which differs from the chord.
  Scene scene = table(GetParam(), 0.01, {});
  scene.contact.barrier_stiffness = 4e5;
  scene.contact.meshes[0].mesh = contact::box_triangles({-0.25, -0.05, -0.02}, {0.13, -0.03, 0.12});
  scene.contact.meshes[0].rotation.axis = {0.0, 0.0, 2.0};
  scene.contact.meshes[0].rotation.origin = {-0.25, -0.04, 0.0};
  scene.contact.meshes[0].rotation.angular_velocity = 10.0;
  expect_lifted(make_solver(scene), 3, 3.0);
}

INSTANTIATE_TEST_SUITE_P(moving_obstacle, ImplicitObstacle, testing::Values("implicit_euler", "bdf2", "newmark"));

const std::vector<std::string> motion = {"obstacle_angular_velocity:0", "obstacle_velocity:0", "obstacle_position:0"};

TEST(moving_obstacle, derivatives_by_a_turn_in_explicit_steps) {
  Scene scene = turning("symplectic_euler", 1e-3, 0.4, 3.0);
  scene.blocks[0].velocity = {0.1, -0.5, 0.0};
  scene.blocks[0].turn = 0.3;
  expect_derivatives_of_place(scene, 30, motion);
}

TEST(moving_obstacle, derivatives_by_a_turn_in_implicit_steps) {
  Scene scene = turning("implicit_euler", 0.01, 0.4, 3.0);
  scene.blocks[0].velocity = {0.1, -0.5, 0.0};
  expect_derivatives_of_place(scene, 4, motion);
}

TEST(moving_obstacle, derivatives_in_statics) {
  // A block that is fixed at its top is pressed from below.
  Scene scene = turning("quasi_static", 0.05, 0.4, 0.2);
  scene.contact.meshes[0].velocity = {0.02, 0.1, 0.0};
  DifferentiableScene solver = make_solver(scene);
  solver.mesh()->define_region("top", BoxShape{{-1.0, 0.04, -1.0}, {1.0, 1.0, 1.0}});
  solver.mesh()->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {1.0, 0.01, 1.0}});
  solver.fix("top");
  GradientCheckOptions options;
  options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
  if (ranks() > 1) options.differences = false;
  testing_simulation::expect_derivatives(
      solver, 4, {{"foot", {0.1, 0.3, -0.1}, 4}},
      unknowns_of({"obstacle_angular_velocity:0", "obstacle_velocity:0", "barrier_stiffness", "friction"},
                  {"barrier_stiffness"}),
      options);
}

}  // namespace
}  // namespace diffsim::moving_obstacle_test
