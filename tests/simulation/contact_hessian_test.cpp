// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Products with the Hessian of a loss through contact: symmetry, and convergence orders of the remainder of the
// second-order expansion.

#include <gtest/gtest.h>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::contact_hessian_test {
namespace {

using namespace testing_contact;
using testing_simulation::unknowns_of;

/// Scene of a block that lands and slides on a plane. The plane moves upwards and rotates.
Scene landing(const std::string& integrator) {
  const bool is_explicit = diffsim::is_explicit(integrator_named(integrator));
  Scene scene;
  scene.integrator = integrator;
  scene.dt = is_explicit ? 1e-3 : 0.01;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.0, {1.0, -0.5, 0.3}}};
  scene.contact = soft(false);
  scene.contact.friction = 0.4;
  scene.contact.planes.push_back({.point = {0.0, -0.012, 0.0},
                                  .normal = {0.1, 1.0, 0.0},
                                  .velocity = {0.0, 0.2, 0.0},
                                  .rotation = {{0.2, 0.9, 0.1}, {0.05, -0.04, 0.03}, 2.0}});
  return scene;
}

HessianCheck check(const Scene& scene, int steps, const std::vector<std::string>& names) {
  DifferentiableScene solver = make_solver(scene);
  solver.mesh()->define_region("side", BoxShape{{0.09, -1.0, -1.0}, {1.0, 1.0, 1.0}});
  SumLoss loss;
  for (const char* region : {"all", "side"})
    loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region(region),
                                                  std::array<double, 3>{0.2, 0.3, -0.1}, steps));
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), steps, loss, unknowns_of(names, {"barrier_stiffness", "youngs_modulus"}),
      [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  HessianCheckOptions options;
  if (ranks() > 1) options.differences = false;
  return check_hessian(problem, problem.start(), options);
}

/// Scene of a block that lands and slides on a roof of two triangles. The roof moves upwards and rotates.
Scene landing_on_roof(const std::string& integrator, double friction) {
  Scene scene = roof(friction);
  scene.integrator = integrator;
  scene.dt = is_explicit(integrator_named(integrator)) ? 1e-3 : 0.01;
  scene.contact.meshes[0].velocity = {0.0, 0.2, 0.0};
  scene.contact.meshes[0].rotation = {{0.2, 0.9, 0.1}, {0.05, -0.04, 0.03}, 2.0};
  return scene;
}

void expect_good(const Scene& scene, const std::vector<std::string>& names) {
  SCOPED_TRACE(scene.integrator + ", friction " + std::to_string(scene.contact.friction));
  const HessianCheck result = check(scene, scene.dt < 0.01 ? 20 : 3, names);
  EXPECT_LE(result.symmetry, 1e-10);
  EXPECT_TRUE(ranks() > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
  EXPECT_FALSE(result.quadratic);
}

TEST(plane_hessian, is_symmetric_and_expands_to_third_order) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler", "newmark"})
    expect_good(landing(integrator),
                {"youngs_modulus", "barrier_stiffness", "barrier_distance", "friction", "friction_velocity",
                 "obstacle_position:0", "obstacle_velocity:0", "obstacle_angular_velocity:0", "initial_velocities"});
}

TEST(surface_hessian, is_symmetric_and_expands_to_third_order) {
  for (const double friction : {0.0, 0.4})
    for (const char* integrator : {"symplectic_euler", "velocity_verlet", "newmark"}) {
      std::vector<std::string> names{"youngs_modulus",      "barrier_stiffness",   "barrier_distance",
                                     "obstacle_position:0", "obstacle_velocity:0", "obstacle_angular_velocity:0",
                                     "initial_velocities"};
      if (friction > 0.0) names.insert(names.end(), {"friction", "friction_velocity"});
      expect_good(landing_on_roof(integrator, friction), names);
    }
}

TEST(surface_hessian, by_how_fast_an_obstacle_turns) {
  expect_good(landing_on_roof("symplectic_euler", 0.4), {"obstacle_angular_velocity:0"});
}

TEST(surface_hessian, of_bodies_on_each_other) {
  // Implicit steps only: in the more numerous explicit steps some pairs begin to touch, where the third derivative of
  // the barrier jumps.
  Scene scene = stack(0.3, 0.4);
  scene.integrator = "implicit_euler";
  scene.dt = 0.01;
  expect_good(scene, {"youngs_modulus", "barrier_stiffness", "barrier_distance", "friction", "friction_velocity",
                      "initial_velocities"});
}

TEST(contact_hessian, not_by_the_rest_shape) {
  for (const Scene& scene : {landing("symplectic_euler"), landing_on_roof("symplectic_euler", 0.4)}) {
    try {
      check(scene, 2, {"rest_positions"});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("rest_positions"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace diffsim::contact_hessian_test
