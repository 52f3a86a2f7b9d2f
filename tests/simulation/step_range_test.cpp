// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rollouts of a part of the steps: from the end of the last rollout, from a state that was set, and from a frame.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "adjoint/later_steps.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/io/trajectory.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::step_range_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 12, middle = 5;

/// Scene of a bar whose end is moved and rotated, under a traction that changes in each step.
DifferentiableScene make_solver(const std::string& integrator) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {4, 1, 1});
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableSolver options{
      .dt = 0.004, .substeps = 2, .gravity = {0.0, -9.8, 0.0}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-12;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> velocity, pull;
  for (int n = 0; n < num_steps; ++n) {
    velocity.insert(velocity.end(), {0.5, -0.2 * n, 0.1});
    pull.insert(pull.end(), {30.0 * n, -40.0, 20.0 * std::sin(n)});
  }
  solver.move("x_max", {1.0, 0.0, 0.0}, {1.0, 0.15, 0.1}, {2.0}, velocity);
  solver.add_traction("y_max", pull);
  return solver;
}

TargetPositionLoss make_loss(const DifferentiableScene& solver) {
  return {*solver.mesh(), solver.mesh()->region("z_max"), {0.9, 0.2, 0.15}, num_steps};
}

void expect_same_bits(const State& found, const State& expected) {
  ASSERT_EQ(found.fields().size(), expected.fields().size());
  for (const Field& field : expected.fields())
    EXPECT_EQ(found[field.name()].to_host(), field.to_host()) << field.name();
}

class PartsByIntegrator : public testing::TestWithParam<const char*> {};

TEST_P(PartsByIntegrator, parts_of_a_rollout_make_the_whole) {
  DifferentiableScene solver = make_solver(GetParam());
  TargetPositionLoss loss = make_loss(solver);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus", "velocity:x_max"});
  const double whole = simulator.rollout(num_steps, 3, loss);
  const State end = simulator.state().clone();
  simulator.backward();
  const std::vector<double> by_modulus = simulator.gradient("youngs_modulus").to_host();
  const std::vector<double> by_velocity = simulator.gradient("velocity:x_max").to_host();

  simulator.reset();
  EXPECT_EQ(simulator.rollout(StepRange{0, middle}, {}, loss), 0.0);  // the loss depends on the last state only
  const State halfway = simulator.state().clone();
  std::vector<int> told;
  EXPECT_EQ(simulator.rollout(StepRange{middle, num_steps}, {}, loss, [&](int n, const State&) { told.push_back(n); }),
            whole);
  EXPECT_EQ(told.front(), middle);
  EXPECT_EQ(told.back(), num_steps);
  expect_same_bits(simulator.state(), end);
  // The velocities of the later steps act in this part only.
  simulator.backward();
  const std::vector<double> later = simulator.gradient("velocity:x_max").to_host();
  const double tolerance = std::max(1e-12, 100.0 * solver.model().solver_tolerance());
  double scale = 0.0;
  for (const double g : by_velocity) scale = std::max(scale, std::abs(g));
  for (std::size_t i = 3 * middle; i < later.size(); ++i) EXPECT_NEAR(later[i], by_velocity[i], tolerance * scale) << i;
  for (std::size_t i = 0; i < 3 * middle; ++i) EXPECT_EQ(later[i], 0.0) << i;

  simulator.set_state(halfway);
  EXPECT_EQ(simulator.rollout(StepRange{middle, num_steps}, {}, loss), whole);
  expect_same_bits(simulator.state(), end);
  simulator.reset();
  expect_same_bits(simulator.state(), solver.initial_state());
  expect_refused([&] { simulator.backward(); }, {"call rollout before backward"});
  simulator.require_gradient({"youngs_modulus"});
  EXPECT_EQ(simulator.rollout(num_steps, 0, loss), whole);
  simulator.backward();
  EXPECT_EQ(simulator.gradient("youngs_modulus").to_host(), by_modulus);
}

TEST_P(PartsByIntegrator, a_part_has_a_trajectory) {
  DifferentiableScene solver = make_solver(GetParam());
  TargetPositionLoss loss = make_loss(solver);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus", "velocity:x_max"});
  Trajectory whole = simulator.rollout(num_steps, 4);
  const State halfway = whole.state(middle).clone();
  simulator.set_state(halfway, middle);
  const double expected = simulator.rollout(StepRange{middle, num_steps}, {}, loss);
  simulator.backward();
  const std::vector<double> by_modulus = simulator.gradient("youngs_modulus").to_host();
  const std::vector<double> by_start = simulator.initial_gradient()["positions"].to_host();

  simulator.set_state(halfway, middle);
  Trajectory part = simulator.rollout(StepRange{middle, num_steps}, 3);
  EXPECT_EQ(part.steps().begin, middle);
  EXPECT_EQ(part.num_steps(), num_steps - middle);
  EXPECT_EQ(simulator.step_number(), num_steps);
  EXPECT_EQ(simulator.backward(loss), expected);
  EXPECT_EQ(simulator.gradient("youngs_modulus").to_host(), by_modulus);
  EXPECT_EQ(simulator.initial_gradient()["positions"].to_host(), by_start);

  Simulator plain(solver);
  plain.set_state(halfway, middle);
  Trajectory without_gradients = plain.rollout(StepRange{middle, num_steps}, 3);
  expect_same_bits(plain.state(), whole.state(num_steps));
  for (int n = middle; n <= num_steps; ++n) {
    expect_same_bits(part.state(n), whole.state(n));
    expect_same_bits(without_gradients.state(n), whole.state(n));
  }
  for (const int n : {middle - 1, num_steps + 1})
    EXPECT_EQ(expect_refused([&] { part.state(n); }, {"give a step from 5 to 12"}), ErrorKind::input);
  EXPECT_EQ(expect_refused([&] { plain.rollout(StepRange{4, 2}); }, {"from step 4 to 2"}), ErrorKind::input);
  EXPECT_EQ(expect_refused(
                [&] {
                  plain.rollout(StepRange{4, 6}, 0);
                },
                {"an interval of at least 1"}),
            ErrorKind::input);
}

TEST_P(PartsByIntegrator, a_part_has_derivatives) {
  DifferentiableScene solver = make_solver(GetParam());
  TargetPositionLoss loss = make_loss(solver);
  DifferentiableSimulator simulator(solver);
  simulator.rollout(StepRange{0, middle}, {}, loss);
  const State halfway = simulator.state().clone();
  LaterSteps model(solver.model(), middle);
  LaterLoss later(loss, middle);
  MemoryStore store;
  InverseProblem problem(
      model, halfway, num_steps - middle, later,
      unknowns_of({"youngs_modulus", "velocity:x_max", "initial_positions"}, {"youngs_modulus"}),
      [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  expect_checked(problem);
}

TEST_P(PartsByIntegrator, goes_on_from_a_frame) {
  DifferentiableScene solver = make_solver(GetParam());
  TargetPositionLoss loss = make_loss(solver);
  DifferentiableSimulator simulator(solver);
  std::vector<std::string> fields;
  const State start = solver.initial_state();
  for (const Field& field : start.fields())
    if (!field.on().is_one_for_all()) fields.push_back(field.name());
  const std::string path = std::string(GetParam()) + ".h5";
  TrajectoryWriter writer(*solver.mesh(), path, fields);
  const double whole = simulator.rollout(num_steps, 0, loss, [&](int n, const State& state) {
    if (n % middle == 0) writer.write(n, 0.004 * n, state);
  });
  writer.finish();
  const State end = simulator.state().clone();
  EXPECT_EQ(simulator.set_state(path, middle), middle);
  EXPECT_EQ(simulator.rollout(StepRange{middle, num_steps}, {}, loss), whole);
  expect_same_bits(simulator.state(), end);
  EXPECT_EQ(simulator.set_state(path, -1), 2 * middle);
  EXPECT_EQ(expect_refused([&] { simulator.set_state(path, 7); }, {"no frame of step 7", "of step 5 and 10"}),
            ErrorKind::input);
}

INSTANTIATE_TEST_SUITE_P(simulation, PartsByIntegrator,
                         testing::Values("symplectic_euler", "runge_kutta_4", "bdf2", "newmark"));

TEST(step_range, a_frame_without_all_that_a_step_begins_with_is_refused) {
  DifferentiableScene solver = make_solver("newmark");
  TrajectoryWriter writer(*solver.mesh(), "short.h5");
  writer.write(0, 0.0, solver.initial_state());
  writer.finish();
  DifferentiableSimulator simulator(solver);
  EXPECT_EQ(expect_refused([&] { simulator.set_state("short.h5", 0); }, {"/accelerations", "does not exist", "fields"}),
            ErrorKind::input);
  DifferentiableScene other(
      TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.3}, {4, 1, 1}),
      {{"neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"}},
      DifferentiableSolver{});
  DifferentiableSimulator of_other(other);
  EXPECT_EQ(expect_refused([&] { of_other.set_state("short.h5", 0); }, {"not a trajectory of this mesh"}),
            ErrorKind::input);
  TargetPositionLoss loss = make_loss(solver);
  EXPECT_EQ(expect_refused(
                [&] {
                  simulator.rollout(StepRange{4, 2}, {}, loss);
                },
                {"from step 4 to 2"}),
            ErrorKind::input);
}

}  // namespace
}  // namespace diffsim::step_range_test
