// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Products with the Hessian of a loss through contact with a plane: symmetry, and orders of the second-order
// expansion's remainder.

#include <gtest/gtest.h>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/hessian_check.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim {
namespace {

using namespace testing_contact;
using testing_simulation::unknowns_of;

/// A block that lands on a plane, which comes up and turns, and slides there.
Scene landing(const std::string& integrator) {
  const bool is_explicit = integrator == "symplectic_euler";
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
  DifferentiableSolver solver = make_solver(scene);
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
  if (ranks() > 1) options.max_halvings = 0;
  return check_hessian(problem, problem.start(), options);
}

TEST(plane_hessian, is_symmetric_and_expands_to_third_order) {
  const std::vector<std::string> all{
      "youngs_modulus",    "barrier_stiffness",   "barrier_distance",    "friction",
      "friction_velocity", "obstacle_position:0", "obstacle_velocity:0", "obstacle_angular_velocity:0",
      "initial_velocities"};
  for (const char* integrator : {"symplectic_euler", "implicit_euler", "newmark"}) {
    SCOPED_TRACE(integrator);
    const Scene scene = landing(integrator);
    const HessianCheck result = check(scene, scene.dt < 0.01 ? 20 : 3, all);
    EXPECT_LE(result.symmetry, 1e-10);
    EXPECT_TRUE(ranks() > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
    EXPECT_FALSE(result.quadratic);
  }
}

TEST(plane_hessian, not_by_the_rest_shape) {
  try {
    check(landing("symplectic_euler"), 2, {"rest_positions"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rest_positions"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace diffsim
