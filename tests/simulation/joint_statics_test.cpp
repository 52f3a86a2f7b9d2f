// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Static equilibrium of rigid bodies with joints: balance of torques, gradients, bodies that nothing holds.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/mesh/construction.hpp"
#include "simulation/affine_scenes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::joint_statics_test {
namespace {

using namespace testing_affine;

constexpr double length = 0.4, side = 0.05, density = 800.0, g = 9.8;
constexpr double k[2] = {30.0, 20.0}, target[2] = {0.3, -0.2};  // stiffness, N m/rad, and target, rad, of each spring

/// Arm of two rigid bars with springs in the shoulder and the elbow. Without the springs nothing holds the arm's
/// angles.
DifferentiableScene make_arm(MPI_Comm comm, DifferentiableSolver options, bool has_springs = true) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(comm, "upper", {length, side, side}, {0.5 * length, 0.0, 0.0}));
  bodies.push_back(affine_box(comm, "lower", {length, side, side}, {1.5 * length, 0.0, 0.0}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  options.integrator = Integrator::quasi_static;
  DifferentiableScene scene(mesh, {rigid(density)}, options);
  scene.join({.name = "shoulder", .kind = JointKind::revolute, .body = "upper"});
  scene.join(
      {.name = "elbow", .kind = JointKind::revolute, .body = "lower", .other = "upper", .point = {length, 0, 0}});
  if (!has_springs) return scene;
  scene.drive("shoulder", {.target = {target[0]}, .stiffness = k[0]});
  scene.drive("elbow", {.target = {target[1]}, .stiffness = k[1]});
  return scene;
}

/// The elbow's torque carries the weight m g of the lower bar, and the shoulder's torque carries both bars.
TEST(joint_statics, torques_of_springs_balance_the_weight) {
  DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, -g, 0.0}};
  options.implicit.newton.tolerance = 1e-12;
  DifferentiableScene scene = make_arm(MPI_COMM_WORLD, options);
  State state = scene.initial_state();
  scene.step(0, state);
  const std::vector<double> q = scene.joint_coordinates(state);
  const double weight = density * length * side * side * g;
  const double elbow = k[1] * (target[1] - q[1]), shoulder = k[0] * (target[0] - q[0]);
  EXPECT_GT(std::abs(q[0] - target[0]), 0.1);
  EXPECT_NEAR(elbow, weight * 0.5 * length * std::cos(q[0] + q[1]), 1e-9);
  EXPECT_NEAR(shoulder - elbow, weight * 1.5 * length * std::cos(q[0]), 1e-9);
}

TEST(joint_statics, has_the_gradients_whose_slopes_differences_have) {
  testing_gradient::expect_slopes(
      [](MPI_Comm comm) {
        DifferentiableSolver options = testing_gradient::tight_options("quasi_static", 1.0, 1.0, 1);
        options.implicit.ramp_steps = 2;
        return make_arm(comm, options);
      },
      2, {"density", "gravity", "joint_stiffness:shoulder", "joint_target:elbow", "joint_point:elbow"});
}

TEST(joint_statics, refuses_an_arm_that_nothing_holds) {
  DifferentiableScene scene = make_arm(MPI_COMM_WORLD, {.dt = 1.0, .gravity = {0.0, -g, 0.0}}, false);
  State state = scene.initial_state();
  testing_simulation::expect_refused([&] { scene.step(0, state); }, {"singular", "must hold each body"});
}

}  // namespace
}  // namespace diffsim::joint_statics_test
