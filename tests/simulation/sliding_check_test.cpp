// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivative check of a block that slides down a slope in a hundred implicit steps, with friction that is smoothed
// below 10 µm/s. Correct gradients pass; an exploded gradient is reported.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::sliding_check_test {
namespace {

using namespace testing_simulation;

/// Checks derivatives with respect to the named parameters. µ = 0.49, slope angle 0.5 rad. Gravity is tilted instead of
/// the plane.
std::map<std::string, UnknownCheck> check_slide(const std::string& integrator, const std::vector<std::string>& names) {
  constexpr int num_steps = 100;
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.12, 0.06, 0.08}, {1, 1, 1});
  const DifferentiableMaterial material{
      "stable_neo_hookean", {{"youngs_modulus", 5e5}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  DifferentiableScene solver(mesh, {material},
                             {.dt = 0.01,
                              .gravity = {9.8 * std::sin(0.5), -9.8 * std::cos(0.5), 0.0},
                              .integrator = integrator_named(integrator)});
  ContactOptions contact{
      .barrier_distance = 5e-3, .barrier_stiffness = 2e4, .friction = 0.49, .friction_velocity = 1e-5};
  contact.planes.push_back({.point = {0.0, -0.0045, 0.0}, .normal = {0.0, 1.0, 0.0}});
  solver.add_contact(contact);
  TargetPositionLoss loss(*mesh, mesh->region("all"), {0.5, 0.03, 0.04}, num_steps);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, unknowns_of(names, {}),
      [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  std::map<std::string, UnknownCheck> checks;
  for (UnknownCheck& one : check_gradient(problem, problem.start())) {
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: %s, slope %g, difference %g within %g, noise %g, solver %g, dot %g, amplification %g; %s\n",
                  one.name.c_str(), to_string(one.verdict), one.slope, one.difference, one.difference_error, one.noise,
                  one.solver_effect, one.dot_product_error, one.amplification, one.note.c_str());
    checks[one.name] = one;
  }
  return checks;
}

TEST(sliding_check, right_gradients_pass) {
  for (const auto& [name, one] : check_slide("implicit_euler", {"friction_velocity", "barrier_stiffness", "friction"}))
    EXPECT_TRUE(one.passed) << name << ": " << to_string(one.verdict) << ", " << one.note;
}

TEST(sliding_check, an_exploded_gradient_does_not_pass_without_a_word) {
  for (const auto& [name, one] : check_slide("newmark", {"barrier_stiffness"})) {
    EXPECT_FALSE(one.passed) << name;
    EXPECT_NE(one.note.find("the gradient has exploded"), std::string::npos) << one.note;
  }
}

}  // namespace
}  // namespace diffsim::sliding_check_test
