// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A sweep over the last steps gives the contribution of these steps to the gradient.

#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/from_options.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/sweep_testing.hpp"

namespace diffsim::truncated_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 70, last = 45;

struct Case {
  Case() {
    std::vector<double> pull;
    for (int n = 0; n < num_steps; ++n) pull.insert(pull.end(), {20.0, -10.0 * std::sin(n), 5.0});
    solver.add_traction("x_max", pull);
    solver.fix("x_min");
    for (const int step : {10, 60, num_steps})
      loss.add(std::make_unique<TargetPositionLoss>(*mesh, mesh->region("x_max"), std::array<double, 3>{0.9, 0.2, 0.1},
                                                    step));
  }
  std::shared_ptr<TetrahedralMesh> mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {5, 2, 1});
  DifferentiableScene solver{
      mesh,
      {{"neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"}},
      {.dt = 0.004, .substeps = 2}};
  SumLoss loss;
};

TEST(Truncated, StepsHaveTheSharesOfTheWholeGradient) {
  Case problem;
  const auto tractions = [&](int steps) {
    CheckpointOptions options;
    options.last = steps;
    return loss_and_gradients(problem.solver, problem.loss, num_steps, {"traction:x_max"}, options);
  };
  // Each step has its own traction, so only the contribution of the loss at step 10 is missing.
  const std::vector<double> whole = tractions(0), part = tractions(last);
  ASSERT_EQ(part.size(), 1U + 3 * num_steps);
  EXPECT_EQ(part[0], whole[0]);
  for (std::size_t i = 1; i < part.size(); ++i) EXPECT_EQ(part[i], i <= 3 * (num_steps - last) ? 0.0 : whole[i]) << i;
  EXPECT_EQ(tractions(num_steps), whole);
  EXPECT_EQ(tractions(num_steps + 7), whole);
}

TEST(Truncated, IsTheGradientFromTheStateInBetween) {
  Case problem;
  const std::vector<std::string> asked = {"youngs_modulus", "density", "gravity", "damping"};
  CheckpointOptions options;
  options.last = last;
  const std::vector<double> found = loss_and_gradients(problem.solver, problem.loss, num_steps, asked, options);
  // Reference in which the earlier steps are computed without derivatives.
  Model& model = problem.solver.model();
  ParameterSet gradient = problem.solver.parameters().zero_like(asked);
  State state = problem.solver.initial_state();
  model.prepare();
  model.begin_adjoint(gradient);
  std::vector<std::unique_ptr<Record>> records;
  for (int n = 0; n < num_steps; ++n) {
    if (n >= num_steps - last) records.push_back(model.make_record());
    model.step(n, state, records.empty() ? nullptr : records.back().get());
  }
  State adjoint = state.zero_like();
  problem.loss.add_gradient(num_steps, state, model.parameters(), adjoint, gradient);
  for (int n = num_steps - 1; n >= num_steps - last; --n) {
    const Record& record = *records[static_cast<std::size_t>(n - (num_steps - last))];
    model.step_adjoint(n, record, adjoint, gradient);
    if (problem.loss.observes(n)) problem.loss.add_gradient(n, record.initial(), model.parameters(), adjoint, gradient);
  }
  model.prepare_adjoint(gradient);
  sum_globals(gradient, model.comm());
  const std::vector<double> expected = in_file_order(*problem.mesh, gradient);
  EXPECT_LT(relative_difference({found.begin() + 1, found.end()}, expected), 1e-13);
}

TEST(Truncated, EveryScheduleGivesTheSameBits) {
  Case problem;
  const std::vector<std::string> asked = {"youngs_modulus", "density"};
  CheckpointOptions options;
  options.last = last;
  const std::vector<double> reference = loss_and_gradients(problem.solver, problem.loss, num_steps, asked, options);
  options.every = 10;
  options.snapshots = 3;
  options.levels = {{2, 0.0, 0.0, ""}, {3, 2.0, 1.0, ""}};
  for (const CheckpointSchedule schedule : {CheckpointSchedule::uniform, CheckpointSchedule::revolve,
                                            CheckpointSchedule::two_level, CheckpointSchedule::multi_level})
    for (const CheckpointStore store : {CheckpointStore::memory, CheckpointStore::tiered}) {
      options.schedule = schedule;
      options.store = store;
      EXPECT_EQ(loss_and_gradients(problem.solver, problem.loss, num_steps, asked, options), reference)
          << to_string(schedule);
    }
  CheckpointOptions planned;
  planned.last = last;
  planned.memory.bytes = 100000;  // in addition to the memory that the process already holds
  planned.measures = PlanMeasures{};
  EXPECT_EQ(loss_and_gradients(problem.solver, problem.loss, num_steps, asked, planned), reference);
}

TEST(Truncated, IsToldApart) {
  CheckpointOptions options;
  EXPECT_EQ(approximation_of(options, num_steps), "");
  options.last = num_steps;
  EXPECT_EQ(approximation_of(options, num_steps), "");
  options.last = last;
  EXPECT_EQ(approximation_of(options, num_steps),
            "the gradient is that of the last 45 of 70 steps only (checkpoint.last)");
  options.single = true;
  EXPECT_EQ(approximation_of(options, num_steps),
            "the gradient is that of the last 45 of 70 steps only (checkpoint.last)");
  options.schedule = CheckpointSchedule::uniform;  // stores snapshots; `all` stores records only
  EXPECT_EQ(approximation_of(options, num_steps),
            "the gradient is that of the last 45 of 70 steps only (checkpoint.last), and is taken at states rounded to "
            "float32 (checkpoint.precision)");
}

TEST(Truncated, TheInitialStateIsOutOfReach) {
  Case problem;
  CheckpointOptions options;
  options.last = last;
  DifferentiableSimulator simulator(problem.solver);
  simulator.require_gradient({"density"});
  simulator.rollout(num_steps, options, problem.loss);
  simulator.backward();
  EXPECT_THROW((void)simulator.initial_gradient(), Error);
  MemoryStore store;
  Unknown unknown;
  unknown.parameter = "initial_velocities";
  InverseProblem inverse(
      problem.solver.model(), problem.solver.initial_state(), num_steps, problem.loss, {unknown},
      [&](int n) { return make_schedule(options, n); }, store);
  std::vector<double> gradient;
  try {
    (void)inverse.gradient(inverse.start(), gradient);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("'initial_velocities' acts through the initial state"), std::string::npos);
  }
  options.schedule = CheckpointSchedule::online;
  EXPECT_THROW(make_schedule(options, num_steps), Error);
}

}  // namespace
}  // namespace diffsim::truncated_test
