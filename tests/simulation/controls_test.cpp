// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Every kind of parameter as the control of a feedback: values against a rollout with the same controls for each step,
// derivatives against eighth-order differences (on several ranks: against one rank).

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/sensor/feedback.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "simulation/affine_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::controls_test {
namespace {

using namespace testing_gradient;

constexpr int num_steps = 4;

/// Scene with controls. The feedback sets each component of the controls to `mean` plus a linear function, with weights
/// of the size `weight`, of the position and velocity of a region.
struct Case {
  std::string name;
  std::function<DifferentiableScene(MPI_Comm)> make;
  std::string region;
  std::vector<std::string> controls;
  double mean, weight;
  std::vector<std::string> parameters;
};

DifferentiableScene make_bar(const std::string& integrator, const DifferentiableMaterial& material, MPI_Comm comm) {
  const auto mesh = TetrahedralMesh::box(comm, {0.2, 0.08, 0.1}, {2, 1, 1});
  mesh->define_region("middle", BoxShape{{0.05, -1.0, -1.0}, {0.15, 1.0, 1.0}});
  DifferentiableScene scene(mesh, {material}, tight_options(integrator, 3e-3, 8e-3, 6));
  scene.fix("x_min");
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double x = mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    velocity.insert(velocity.end(), {2.0 * x, -3.0 * x, 4.0 * x});
  }
  scene.set_initial_velocity(velocity);
  return scene;
}

const DifferentiableMaterial rubber{"neo_hookean",
                                    {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}};
const DifferentiableMaterial muscle{"active_fibre",
                                    {{"youngs_modulus", 5e4},
                                     {"poisson_ratio", 0.3},
                                     {"density", 1000.0},
                                     {"active_tension", 4e3},
                                     {"activation", 0.5},
                                     {"fibre_x", 1.0},
                                     {"fibre_y", 0.2},
                                     {"fibre_z", 0.1}}};

DifferentiableScene with_pressure(const std::string& integrator, MPI_Comm comm) {
  DifferentiableScene scene = make_bar(integrator, rubber, comm);
  scene.add_pressure("x_max", {0.0});
  return scene;
}

DifferentiableScene with_wind(const std::string& integrator, MPI_Comm comm) {
  DifferentiableScene scene = make_bar(integrator, rubber, comm);
  scene.add_wind("x_max", {0.0, 0.0, 0.0}, 30.0);
  return scene;
}

DifferentiableScene with_motion(const std::string& integrator, MPI_Comm comm) {
  DifferentiableScene scene = make_bar(integrator, rubber, comm);
  scene.move("x_max", {0.2, 1.0, 0.1}, {0.2, 0.03, 0.07}, {0.0}, {0.0, 0.0, 0.0});
  return scene;
}

/// Rigid link that hangs on a driven hinge with the world.
DifferentiableScene with_hinge(const std::string& integrator, MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(testing_affine::affine_box(comm, "link", {0.3, 0.04, 0.05}, {0.15, 0.0, 0.0}));
  bodies.push_back(testing_affine::affine_box(comm, "other", {0.1, 0.1, 0.1}, {0.0, 1.0, 0.0}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableScene scene(mesh, {testing_affine::rigid(900.0, "link/all"), testing_affine::rigid(900.0, "other/all")},
                            tight_options(integrator, 2e-3, 6e-3, 5));
  scene.join({.name = "hinge", .body = "link", .axis = {0.1, 0.2, 1.0}});
  scene.drive("hinge", {.stiffness = 0.8, .damping = 0.02});
  const double rate = 3.0 / std::hypot(0.1, 0.2, 1.0);  // rad/s, per component of the axis
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, "link", {0.0, 0.15 * rate, -0.15 * 0.2 * rate}, {0.1 * rate, 0.2 * rate, rate}, velocity);
  scene.set_initial_velocity(velocity);
  return scene;
}

const std::vector<std::string> of_bar{"policy:hand", "youngs_modulus", "density", "initial_positions"};
const std::vector<std::string> of_hinge{"policy:hand", "density", "joint_stiffness:hinge", "joint_damping:hinge"};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, const std::string& integrator, const auto& make,
                       const std::string& region, const std::vector<std::string>& controls, double mean, double weight,
                       const std::vector<std::string>& parameters) {
    all.push_back({name + "_" + integrator, [=](MPI_Comm comm) { return make(integrator, comm); }, region, controls,
                   mean, weight, parameters});
  };
  for (const std::string integrator : {"velocity_verlet", "implicit_euler"}) {
    add("pressure", integrator, with_pressure, "x_max", {"pressure:x_max"}, 500.0, 800.0, of_bar);
    add("wind", integrator, with_wind, "x_max", {"wind:x_max"}, 3.0, 2.0, of_bar);
    add("motion", integrator, with_motion, "middle", {"velocity:x_max", "angular_velocity:x_max"}, 0.1, 0.3, of_bar);
    add(
        "activation", integrator, [](const std::string& by, MPI_Comm comm) { return make_bar(by, muscle, comm); },
        "x_max", {"activation_signal"}, 0.7, 0.4, of_bar);
  }
  add(
      "damping", "symplectic_euler", [](const std::string& by, MPI_Comm comm) { return make_bar(by, rubber, comm); },
      "x_max", {"damping"}, 0.95, 0.02, of_bar);
  for (const std::string integrator : {"velocity_verlet", "bdf2"})
    add("hinge", integrator, with_hinge, "link/all", {"joint_torque:hinge", "joint_target:hinge"}, 0.3, 0.5, of_hinge);
  return all;
}

/// Feedback of the case, and its weights: a bias of `mean` and a wave of the size `weight`.
Feedback hand_of(const Case& which, DifferentiableScene& scene) {
  Feedback hand{.name = "hand", .controls = which.controls};
  for (const SensorQuantity quantity : {SensorQuantity::position, SensorQuantity::velocity})
    hand.sensors.push_back(scene.sensor({.quantity = quantity, .place = {.region = which.region}}));
  std::size_t outputs = 0;
  for (const std::string& control : which.controls)
    outputs += static_cast<std::size_t>(scene.parameters().at(control).field.components());
  hand.policy = make_perceptron(6, outputs);
  return hand;
}

std::vector<double> weights_of(const Case& which, std::size_t outputs) {
  std::vector<double> theta(7 * outputs);
  for (std::size_t i = 0; i < theta.size(); ++i)
    theta[i] = i < 6 * outputs ? which.weight * std::cos(1.7 * static_cast<double>(i) + 0.3) : which.mean;
  return theta;
}

DifferentiableScene closed_loop(const Case& which, MPI_Comm comm) {
  DifferentiableScene scene = which.make(comm);
  const Feedback hand = hand_of(which, scene);
  scene.add_feedback(hand);
  scene.parameters().at("policy:hand").field.from_host(weights_of(which, hand.policy->num_outputs()));
  return scene;
}

class Controls : public testing::TestWithParam<Case> {};

TEST_P(Controls, have_the_slopes_that_differences_have) {
  const Case& which = GetParam();
  expect_slopes([&](MPI_Comm comm) { return closed_loop(which, comm); }, num_steps, which.parameters);
}

TEST_P(Controls, move_the_bodies_as_values_for_each_step_do) {
  const Case& which = GetParam();
  DifferentiableScene closed = closed_loop(which, MPI_COMM_WORLD), open = which.make(MPI_COMM_WORLD);
  const Feedback hand = hand_of(which, closed);
  const std::vector<double> theta = weights_of(which, hand.policy->num_outputs());
  std::vector<std::vector<double>> values(which.controls.size());
  std::vector<double> end;
  Simulator simulator(closed);
  simulator.rollout(num_steps, 10, [&](int n, const State& state) {
    if (n == num_steps) end = state["positions"].to_host();
    if (n == num_steps) return;
    std::vector<double> y;
    for (const auto& sensor : hand.sensors)
      for (const double value : sensor->value(n, state)) y.push_back(value);
    const std::vector<double> u = hand.policy->evaluate(y, theta);
    auto next = u.begin();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto last = next + open.parameters().at(which.controls[k]).field.components();
      values[k].insert(values[k].end(), next, last);
      next = last;
    }
  });
  for (std::size_t k = 0; k < values.size(); ++k) open.set_control(which.controls[k], values[k]);
  Simulator same(open);
  same.rollout(num_steps);
  EXPECT_EQ(same.positions().to_host(), end);
}

INSTANTIATE_TEST_SUITE_P(kinds, Controls, testing::ValuesIn(cases()), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace diffsim::controls_test
