// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Stored results of implicit steps (Model::remember_steps): bitwise identical derivatives without Newton iterations.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/inverse/losses.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/contact_blocks.hpp"

namespace diffsim::step_memory_test {
namespace {

using namespace testing_contact;

constexpr int num_steps = 5;

/// Inverse problem of a block that lands on an obstacle with friction. The sweep repeats steps from checkpoints.
struct Landing {
  explicit Landing(const std::string& integrator) : scene(make_solver(scene_of(integrator))) {
    loss = std::make_unique<TargetPositionLoss>(*scene.mesh(), scene.mesh()->region("all"), std::array{0.1, 0.02, 0.0},
                                                num_steps);
    problem =
        std::make_unique<InverseProblem>(scene.model(), scene.initial_state(), num_steps, *loss,
                                         std::vector<Unknown>{{.parameter = "youngs_modulus", .logarithmic = true},
                                                              {.parameter = "gravity"},
                                                              {.parameter = "initial_velocities"}},
                                         CheckpointOptions{.schedule = CheckpointSchedule::uniform, .every = 3});
  }
  static Scene scene_of(const std::string& integrator) {
    Scene scene = roof(0.3);
    scene.integrator = integrator;
    scene.dt = 0.004;
    scene.gravity = {0.0, -9.8, 0.0};
    return scene;
  }
  std::vector<double> gradient(const std::vector<double>& u) {
    std::vector<double> result;
    result.push_back(problem->gradient(u, result));
    return result;
  }
  /// Number of Newton iterations since the beginning of the last rollout.
  long newton_iterations() { return dynamic_cast<const ImplicitModel&>(scene.model()).statistics().newton_iterations; }

  DifferentiableScene scene;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<InverseProblem> problem;
};

std::vector<double> moved(std::vector<double> u) {
  for (double& value : u) value *= 1.01;
  return u;
}

class StepMemory : public testing::TestWithParam<const char*> {};

TEST_P(StepMemory, spares_newton_iterations_and_keeps_all_bits) {
  Landing remembering(GetParam()), forgetful(GetParam());
  forgetful.scene.model().remember_steps(0);
  const std::vector<double> u = remembering.problem->start(), other = moved(u);
  const std::vector<double> expected = forgetful.gradient(u);
  const long without = forgetful.newton_iterations();
  EXPECT_EQ(remembering.gradient(u), expected);
  EXPECT_LT(remembering.newton_iterations(), without);  // steps that the reverse sweep repeats are remembered
  EXPECT_GT(remembering.newton_iterations(), 0);
  EXPECT_EQ(remembering.gradient(u), expected);
  EXPECT_EQ(remembering.newton_iterations(), 0);
  const std::vector<double> v = moved(u);
  EXPECT_EQ(remembering.problem->hessian_product(u, v), forgetful.problem->hessian_product(u, v));
  EXPECT_EQ(remembering.newton_iterations(), 0);
  EXPECT_GT(forgetful.newton_iterations(), 0);
  // Another initial state with the same parameters; other parameters; and the first parameters again.
  std::vector<double> faster = u;
  for (std::size_t i = 0; i < remembering.problem->count(2); ++i) faster[remembering.problem->offset(2) + i] *= 1.01;
  EXPECT_EQ(remembering.gradient(faster), forgetful.gradient(faster));
  EXPECT_GT(remembering.newton_iterations(), 0);
  EXPECT_EQ(remembering.gradient(other), forgetful.gradient(other));
  EXPECT_GT(remembering.newton_iterations(), 0);
  EXPECT_EQ(remembering.gradient(u), expected);
  EXPECT_GT(remembering.newton_iterations(), 0);
}

TEST_P(StepMemory, ends_with_other_tolerances_and_other_fixed_vertices) {
  Landing landing(GetParam());
  const std::vector<double> u = landing.problem->start();
  landing.gradient(u);
  landing.problem->tighten_solvers(0.1);
  landing.gradient(u);
  EXPECT_GT(landing.newton_iterations(), 0);
  landing.gradient(u);
  EXPECT_EQ(landing.newton_iterations(), 0);
  landing.scene.fix("all", {false, false, true});
  landing.gradient(u);
  EXPECT_GT(landing.newton_iterations(), 0);
}

TEST_P(StepMemory, stores_no_more_than_its_limit) {
  Landing landing(GetParam());
  const std::vector<double> u = landing.problem->start();
  const std::vector<double> expected = landing.gradient(u);
  landing.scene.model().remember_steps(0);
  landing.gradient(u);
  const long whole = landing.newton_iterations();
  // Positions of two steps fit.
  landing.scene.model().remember_steps(2 * landing.scene.initial_state()["positions"].bytes());
  EXPECT_EQ(landing.gradient(u), expected);
  EXPECT_EQ(landing.gradient(u), expected);
  EXPECT_GT(landing.newton_iterations(), 0);
  EXPECT_LT(landing.newton_iterations(), whole);
}

INSTANTIATE_TEST_SUITE_P(integrators, StepMemory, testing::Values("implicit_euler", "bdf2", "newmark"));

}  // namespace
}  // namespace diffsim::step_memory_test
