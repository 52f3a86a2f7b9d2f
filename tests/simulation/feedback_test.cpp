// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Feedbacks in rollouts: values against a rollout with the same controls for each step, derivatives against
// eighth-order differences (on several ranks: against one rank), products with the Hessian against differences.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"
#include "diffsim/sensor/feedback.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/simulation_testing.hpp"
#include "simulation/sweep_testing.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::feedback_test {
namespace {

using namespace testing_gradient;

constexpr int num_steps = 4;

/// Bar whose left end is fixed and whose right end is pulled by a traction.
DifferentiableScene make_bar(const std::string& integrator, MPI_Comm comm) {
  const auto mesh = TetrahedralMesh::box(comm, {0.2, 0.08, 0.1}, {2, 1, 1});
  DifferentiableMaterial rubber{
      "neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  DifferentiableScene solver(mesh, {rubber}, tight_options(integrator, 3e-3, 8e-3, 6));
  solver.fix("x_min");
  solver.add_traction("x_max", {0.0, 0.0, 0.0});
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double x = mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    velocity.insert(velocity.end(), {2.0 * x, -3.0 * x, 4.0 * x});
  }
  solver.set_initial_velocity(velocity);
  return solver;
}

/// Network that computes the traction from the position and the velocity of the right end and from the reaction of the
/// left end.
Feedback hand_of(DifferentiableScene& solver) {
  Feedback hand{.name = "hand"};
  for (const SensorSpec& spec : {SensorSpec{.quantity = SensorQuantity::displacement, .place = {.region = "x_max"}},
                                 SensorSpec{.quantity = SensorQuantity::velocity, .place = {.region = "x_max"}},
                                 SensorSpec{.quantity = SensorQuantity::reaction, .place = {.region = "x_min"}}})
    hand.sensors.push_back(solver.sensor(spec));
  hand.offsets = {0.01, -0.01, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0};
  hand.scales = {0.02, 0.02, 0.02, 0.5, 0.5, 0.5, 20.0, 20.0, 20.0};
  hand.controls = {"traction:x_max"};
  hand.policy = make_perceptron(9, 3, {.hidden = {4}, .limits = {3000.0, 2000.0, 1000.0}});
  return hand;
}

/// Linear controller that computes the gravity from the centre of mass and from a wave of 20 Hz.
Feedback lift_of(DifferentiableScene& solver) {
  Feedback lift{.name = "lift", .frequencies = {20.0}, .controls = {"gravity"}};
  lift.sensors = {solver.sensor({.quantity = SensorQuantity::center_of_mass})};
  lift.scales = {0.1, 0.1, 0.1};
  lift.policy = make_perceptron(5, 3);
  return lift;
}

void set_weights(DifferentiableScene& solver, const std::string& name, double size) {
  Field& weights = solver.parameters().at(name).field;
  std::vector<double> theta(weights.size());
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = size * std::cos(1.7 * static_cast<double>(i) + 0.3);
  weights.from_host(theta);
}

DifferentiableScene make_solver(const std::string& integrator, MPI_Comm comm) {
  DifferentiableScene solver = make_bar(integrator, comm);
  const Feedback hand = hand_of(solver), lift = lift_of(solver);
  solver.add_feedback(hand);
  solver.add_feedback(lift);
  set_weights(solver, "policy:hand", 600.0);
  // The hidden layer has weights of order 1.
  std::vector<double> theta = solver.parameters().at("policy:hand").field.to_host();
  for (std::size_t i = 0; i < 40; ++i) theta[i] *= 1e-3;
  solver.parameters().at("policy:hand").field.from_host(theta);
  set_weights(solver, "policy:lift", 4.0);
  return solver;
}

class FeedbackWithIntegrator : public testing::TestWithParam<const char*> {};

TEST_P(FeedbackWithIntegrator, has_the_slope_that_differences_have) {
  expect_slopes([](MPI_Comm comm) { return make_solver(GetParam(), comm); }, num_steps,
                {"youngs_modulus", "poisson_ratio", "density", "policy:hand", "policy:lift", "rest_positions",
                 "initial_positions", "initial_velocities"});
}

TEST_P(FeedbackWithIntegrator, has_the_hessian_products_that_differences_have) {
  DifferentiableScene solver = make_solver(GetParam(), MPI_COMM_WORLD);
  const auto sensor = solver.sensor({.quantity = SensorQuantity::position, .place = {.region = "x_max"}});
  SensorLoss loss(sensor, {{2, {0.21, 0.05, 0.02}}, {num_steps, {0.19, 0.02, 0.07}}});
  std::vector<Unknown> unknowns;
  for (const char* name : {"youngs_modulus", "density", "policy:hand", "policy:lift", "initial_positions"})
    unknowns.push_back({.parameter = name});
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns);
  const HessianCheck check = check_hessian(problem, problem.start());
  EXPECT_TRUE(check.passed) << check.symmetry << " " << check.product << " " << check.difference;
}

TEST_P(FeedbackWithIntegrator, moves_as_with_the_same_controls_for_each_step) {
  DifferentiableScene closed = make_solver(GetParam(), MPI_COMM_WORLD);
  const Feedback hand = hand_of(closed), lift = lift_of(closed);
  const std::vector<double> by_hand = closed.parameters().at("policy:hand").field.to_host(),
                            by_lift = closed.parameters().at("policy:lift").field.to_host();
  std::vector<double> traction, gravity, end;
  Simulator simulator(closed);
  simulator.rollout(num_steps, 10, [&](int n, const State& state) {
    if (n == num_steps) end = state["positions"].to_host();
    if (n == num_steps) return;
    std::vector<double> y, center = lift.sensors[0]->value(n, state);
    for (const auto& sensor : hand.sensors)
      for (const double value : sensor->value(n, state)) {
        const std::size_t i = y.size();
        y.push_back((value - hand.offsets[i]) / hand.scales[i]);
      }
    for (double& value : center) value /= 0.1;
    const double phase = 2.0 * std::numbers::pi * 20.0 * n * closed.dt();
    center.insert(center.end(), {std::sin(phase), std::cos(phase)});
    const std::vector<double> u = hand.policy->evaluate(y, by_hand), g = lift.policy->evaluate(center, by_lift);
    traction.insert(traction.end(), u.begin(), u.end());
    gravity.insert(gravity.end(), g.begin(), g.end());
  });
  DifferentiableScene open = make_bar(GetParam(), MPI_COMM_WORLD);
  open.set_control("traction:x_max", traction);
  open.set_control("gravity", gravity);
  Simulator same(open);
  same.rollout(num_steps);
  EXPECT_EQ(same.positions().to_host(), end);
}

INSTANTIATE_TEST_SUITE_P(feedback, FeedbackWithIntegrator,
                         testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "newmark"),
                         [](const auto& test) { return std::string(test.param); });

TEST(feedback, has_the_same_gradient_with_every_schedule) {
  const std::vector<std::string> names{"youngs_modulus", "policy:hand"};
  DifferentiableScene one = make_solver("symplectic_euler", MPI_COMM_WORLD),
                      other = make_solver("symplectic_euler", MPI_COMM_WORLD);
  Wave loss(*one.mesh());
  CheckpointOptions few;
  few.schedule = CheckpointSchedule::uniform;
  few.every = 3;
  EXPECT_EQ(testing_simulation::loss_and_gradients(one, loss, 10, names, {}),
            testing_simulation::loss_and_gradients(other, loss, 10, names, few));
}

TEST(feedback, leaves_a_trajectory_valid) {
  DifferentiableScene solver = make_solver("velocity_verlet", MPI_COMM_WORLD);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"policy:hand"});
  std::vector<std::vector<double>> states;
  Trajectory trajectory =
      simulator.rollout(6, 4, [&](int, const State& state) { states.push_back(state["positions"].to_host()); });
  for (const int n : {5, 1, 3})
    EXPECT_EQ(trajectory.state(n)["positions"].to_host(), states[static_cast<std::size_t>(n)]);
  EXPECT_NO_THROW(simulator.backward([](int, const State&, State*) { return 0.0; }));
}

TEST(feedback, refuses_what_does_not_fit) {
  using testing_simulation::expect_refused;
  DifferentiableScene solver = make_bar("symplectic_euler", MPI_COMM_WORLD);
  const Feedback hand = hand_of(solver);
  const auto refused = [&](const Feedback& wrong, const std::vector<std::string>& words) {
    EXPECT_EQ(expect_refused([&] { solver.add_feedback(wrong); }, words), ErrorKind::input);
    EXPECT_EQ(solver.parameters().find("policy:hand"), nullptr);
  };
  Feedback wrong = hand;
  wrong.policy = nullptr;
  refused(wrong, {"'hand'", "no policy"});
  wrong.policy = make_perceptron(8, 3);
  refused(wrong, {"'hand'", "9 inputs", "8 inputs"});
  wrong.policy = make_perceptron(9, 2);
  refused(wrong, {"3 components", "2 outputs"});
  wrong = hand;
  wrong.scales[2] = 0.0;
  refused(wrong, {"scale"});
  wrong.scales.resize(4);
  refused(wrong, {"4 scales", "9 components"});
  wrong = hand;
  wrong.controls = {"youngs_modulus"};
  refused(wrong, {"'youngs_modulus'"});
  wrong.controls = {"no_such_parameter"};
  refused(wrong, {"no_such_parameter"});
  wrong.controls = {};
  refused(wrong, {"no controls"});
  wrong = hand;
  wrong.sensors.clear();
  wrong.offsets = wrong.scales = {};
  refused(wrong, {"neither sensors nor frequencies"});
  DifferentiableScene used = make_bar("symplectic_euler", MPI_COMM_WORLD);
  used.model();
  EXPECT_EQ(expect_refused([&] { used.add_feedback(hand_of(used)); }, {"already in use"}), ErrorKind::input);
  solver.add_feedback(hand);
  EXPECT_EQ(expect_refused([&] { solver.add_feedback(hand); }, {"two feedbacks", "'hand'"}), ErrorKind::input);
  Feedback again = hand;
  again.name = "again";
  EXPECT_EQ(expect_refused([&] { solver.add_feedback(again); }, {"traction:x_max", "two links"}), ErrorKind::input);
  EXPECT_EQ(expect_refused(
                [&] {
                  solver.set_control("traction:x_max", {1.0, 2.0, 3.0});
                },
                {"feedback"}),
            ErrorKind::input);
  EffortLoss effort(MPI_COMM_WORLD, "traction:x_max", solver.dt(), num_steps);
  State state = solver.initial_state();
  EXPECT_EQ(expect_refused([&] { (void)effort.value(0, state, solver.parameters()); }, {"traction:x_max", "effort"}),
            ErrorKind::input);
}

}  // namespace
}  // namespace diffsim::feedback_test
