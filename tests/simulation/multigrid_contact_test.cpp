// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Contact in implicit steps with multigrid for the linear systems: states and gradients agree with those of factorised
// systems. The sparsity pattern of the matrix changes from step to step, and derivatives use preconditioners of other
// patterns.

#include <gtest/gtest.h>
#include <petscsys.h>

#include <cmath>

#include "core/petsc_handle.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::multigrid_contact_test {
namespace {

using namespace testing_contact;

constexpr int steps = 6;

struct Found {
  double loss;
  std::vector<double> gradient;
  ImplicitStatistics statistics;
};

/// Loss and gradient of a rollout in which two blocks meet, slide over each other and separate.
Found solve(double friction, int direct_below, int checkpoint_every) {
  Scene scene = stack(0.4, friction);
  scene.integrator = "implicit_euler";
  scene.dt = 0.006;
  scene.direct_below = direct_below;
  scene.contact.planes.push_back({.point = {0.0, -0.012, 0.0}, .normal = {0.0, 1.0, 0.0}});
  DifferentiableScene solver = make_solver(scene);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.1, 0.3, -0.1}, steps);
  std::vector<std::string> names = {"barrier_stiffness", "barrier_distance", "obstacle_position:0", "gravity"};
  if (friction > 0.0) names.insert(names.end(), {"friction", "friction_velocity"});
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient(names);
  Found found{simulator.rollout(steps, checkpoint_every, loss), {}, {}};
  simulator.backward();
  for (const std::string& name : names)
    for (const double value : simulator.gradient(name).to_host()) found.gradient.push_back(value);
  found.statistics = dynamic_cast<const ImplicitModel&>(solver.model()).statistics();
  return found;
}

void expect_equal(const Found& found, const Found& expected) {
  EXPECT_NEAR(found.loss, expected.loss, 1e-10 * expected.loss);
  for (std::size_t k = 0; k < expected.gradient.size(); ++k)
    EXPECT_NEAR(found.gradient[k], expected.gradient[k], 1e-8 * std::abs(expected.gradient[k]) + 1e-14) << k;
}

TEST(multigrid_contact, states_and_gradients_are_those_by_factors) {
  constexpr int always = 1000000;
  for (const double friction : {0.0, 0.3}) {
    SCOPED_TRACE(friction);
    const Found expected = solve(friction, always, 0), found = solve(friction, 0, 0);
    EXPECT_EQ(expected.statistics.derivative_solves, steps);
    EXPECT_EQ(found.statistics.derivative_solves, steps);
    EXPECT_GT(found.statistics.derivative_iterations, 3 * steps);  // not factorised
    expect_equal(found, expected);
    if (friction > 0.0) expect_equal(solve(friction, 0, 2), expected);  // recomputes steps between snapshots
  }
}

TEST(multigrid_contact, serves_a_small_problem_where_that_is_wished_for) {
  const Found expected = solve(0.3, 1000000, 0);
  DIFFSIM_PETSC(PetscOptionsSetValue(nullptr, "-pc_type", "gamg"));
  const Found found = solve(0.3, 1000000, 0);
  DIFFSIM_PETSC(PetscOptionsClearValue(nullptr, "-pc_type"));
  EXPECT_GT(found.statistics.derivative_iterations, 3 * steps);
  expect_equal(found, expected);
}

}  // namespace
}  // namespace diffsim::multigrid_contact_test
